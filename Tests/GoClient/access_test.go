package goclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	entitle "example.com/you/entitlev1"

	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// newToken makes a token of a reader of the app, and returns it with the lines of its caller.
func newToken(t *testing.T, name string) (token, lines string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	stanza := struct{ Stanza string }{}
	made := controlJSON(t, "token", "create", "--name", name, "--role", "reader", "--app", bundleID,
		"--expires", "P1D", "--out", file)
	if err := json.Unmarshal(made, &stanza); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), stanza.Stanza + "\n"
}

// withToken is a context whose calls carry the token.
func withToken(t *testing.T, token string) context.Context {
	return ttrpc.WithMetadata(withPatience(t), ttrpc.MD{"authorization": []string{"Bearer " + token}})
}

func TestTokensOverTLS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	write := func(callers ...string) {
		text := "version: 1\ncallers:\n" + strings.Join(callers, "")
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	token, lines := newToken(t, "go-backend")
	other, otherLines := newToken(t, "other")
	stranger, _ := newToken(t, "stranger")
	write(lines, otherLines)
	e := startEncrypted(t, file)
	connection, err := tls.Dial("tcp", e.optional, &tls.Config{RootCAs: e.authorityPool})
	if err != nil {
		t.Fatal(err)
	}
	client := &Client{ttrpc.NewClient(connection)}
	defer client.Close()

	// Callers share the connection: each call has its token.
	for name, token := range map[string]string{"go-backend": token, "other": other} {
		answer, err := client.WhoAmI(withToken(t, token))
		if err != nil || answer.GetName() != name {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
	state, err := client.State(withToken(t, token), stateRequest("nobody"))
	if err != nil || state.GetState().GetAccountId() != "nobody" {
		t.Errorf("%v, %v", state, err)
	}
	expectServing(t, client)

	grant := func(ctx context.Context) error {
		_, err := client.AddGrant(ctx, &entitle.AddGrantRequest{
			BundleId: bundleID, AccountId: "a", EntitlementId: "pro", Reason: "r",
		})
		return err
	}
	elsewhere := func(ctx context.Context) error {
		request := stateRequest("nobody")
		request.BundleId = "com.example.other"
		_, err := client.State(ctx, request)
		return err
	}
	ask := func(ctx context.Context) error { _, err := client.WhoAmI(ctx); return err }
	for _, test := range []struct {
		name string
		ctx  context.Context
		call func(context.Context) error
		code codes.Code
		// What the log says.
		logged string
	}{
		{"no token", withPatience(t), ask, codes.Unauthenticated, "CREDENTIAL_MISSING"},
		{"unknown token", withToken(t, stranger), ask, codes.Unauthenticated, "CREDENTIAL_REFUSED"},
		{"another secret", withToken(t, stranger[:14]+token[14:]), ask, codes.Unauthenticated, ""},
		{"not a token", withToken(t, "secret"), ask, codes.Unauthenticated, ""},
		{"no permission", withToken(t, token), grant, codes.PermissionDenied, "PERMISSION_MISSING"},
		{"another app", withToken(t, token), elsewhere, codes.PermissionDenied, "APP_NOT_PERMITTED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.call(test.ctx); status.Code(err) != test.code {
				t.Errorf("%v, not %v", err, test.code)
			}
			if test.logged != "" {
				e.awaitLog(t, test.logged)
			}
		})
	}

	// A revoked token is refused on the connection where it was used.
	write(otherLines)
	_ = e.command.Process.Signal(syscall.SIGHUP)
	e.awaitLog(t, "other credentials are in force")
	if err := ask(withToken(t, token)); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a revoked token: %v", err)
	}
	if err := ask(withToken(t, other)); err != nil {
		t.Error(err)
	}
	contents, _ := os.ReadFile(e.log)
	for _, secret := range []string{token, other, stranger} {
		if strings.Contains(string(contents), secret) {
			t.Error("the log has a token")
		}
	}
}
