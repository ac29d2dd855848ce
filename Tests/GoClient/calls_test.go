package goclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	entitle "example.com/you/entitlev1"
	health "example.com/you/healthv1"

	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestHealthIsServingAndHasAVersionOverTCPAndUnixSockets(t *testing.T) {
	for network, address := range map[string]string{"tcp": server.tcp, "unix": server.socket} {
		t.Run(network, func(t *testing.T) {
			client, err := Dial(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for _, service := range []string{"", entitlementService, submissionService} {
				answer, err := client.Health(withPatience(t), service)
				if err != nil || answer.Status != health.HealthCheckResponse_SERVING ||
					answer.Version == "" {
					t.Errorf("service %q: %v, %v", service, answer, err)
				}
			}
		})
	}
}

func TestErrorsHaveTheirCodesAndTheConnectionLives(t *testing.T) {
	client := connect(t)
	nothing := &health.HealthCheckRequest{}
	// Field 12 with a wire type that does not exist, where a CustomerSelector should be.
	garbage := &health.HealthCheckRequest{Service: "garbage"}
	tests := []struct {
		name, service, method string
		request               proto.Message
		code                  codes.Code
		text                  string
	}{
		{"unknown service", "entitle.v1.NoService", "Check", nothing, codes.Unimplemented, ""},
		{"unknown method", healthService, "NoMethod", nothing, codes.Unimplemented, ""},
		{"empty names", "", "", nothing, codes.Unimplemented, ""},
		{
			"malformed payload", entitlementService, "GetCustomerState", garbage,
			codes.InvalidArgument, "entitle.v1.CustomerSelector",
		},
		{
			"no customer named", entitlementService, "GetCustomerState",
			&entitle.GetCustomerStateRequest{BundleId: bundleID}, codes.InvalidArgument, "",
		},
		{
			"unknown health service", healthService, "Check",
			&health.HealthCheckRequest{Service: "no.such.Service"}, codes.NotFound, "",
		},
		{
			"a streaming method called as a unary one", healthService, "Watch", nothing,
			codes.InvalidArgument, "stream",
		},
		{
			"a string with a NUL", healthService, "Check",
			&health.HealthCheckRequest{Service: "a\x00b"}, codes.InvalidArgument, "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := &health.HealthCheckResponse{}
			err := client.call(withPatience(t), test.service, test.method, test.request, answer)
			if status.Code(err) != test.code {
				t.Fatalf("%v, not %v", err, test.code)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("%q does not name %s", err, test.text)
			}
			expectServing(t, client)
		})
	}
}

func TestAnExpiredDeadlineIsAnsweredByTheServer(t *testing.T) {
	// The client's own deadline would end the call first; only the server gets this timeout.
	expire := func(
		ctx context.Context, request *ttrpc.Request, response *ttrpc.Response,
		_ *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker,
	) error {
		request.TimeoutNano = -1
		return invoke(ctx, request, response)
	}
	client, err := Dial("tcp", server.tcp, ttrpc.WithUnaryClientInterceptor(expire))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for call := 0; call < 3; call++ {
		if _, err := client.Health(withPatience(t), ""); status.Code(err) != codes.DeadlineExceeded {
			t.Fatalf("%v, not DeadlineExceeded", err)
		}
	}
}

func TestManyCallersShareOneConnection(t *testing.T) {
	const callers, calls = 64, 50
	client := connect(t)
	ctx := withPatience(t)
	var all sync.WaitGroup
	failures := make(chan error, callers)
	for caller := 0; caller < callers; caller++ {
		account := fmt.Sprintf("nobody-%02d", caller)
		all.Add(1)
		go func() {
			defer all.Done()
			for call := 0; call < calls; call++ {
				answer, err := client.State(ctx, stateRequest(account))
				if err != nil {
					failures <- err
					return
				}
				state := answer.GetState()
				if state.GetAccountId() != account || state.GetCoreState() != entitle.CoreState_CORE_STATE_NEW {
					failures <- fmt.Errorf("%s was answered with %v", account, answer)
					return
				}
			}
		}()
	}
	all.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
}

func TestGarbageOnOneConnectionDisturbsNoOther(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	client := connect(t)
	for round := 0; round < 32; round++ {
		connection, err := net.Dial("tcp", server.tcp)
		if err != nil {
			t.Fatal(err)
		}
		bytes := make([]byte, 1+random.Intn(64*1024))
		random.Read(bytes)
		// The server may have closed already; it must still answer others.
		_, _ = connection.Write(bytes)
		connection.Close()
		expectServing(t, client)
	}
}

func TestATooLongAnnouncedFrameEndsItsConnection(t *testing.T) {
	connection, err := net.Dial("tcp", server.tcp)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	// 0x7fffffff bytes, stream 1, a request.
	if _, err := connection.Write([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1, 0}); err != nil {
		t.Fatal(err)
	}
	if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(connection); err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("the server kept the connection")
		}
	}
	expectServing(t, connect(t))
}

func expectServing(t *testing.T, client *Client) {
	t.Helper()
	answer, err := client.Health(withPatience(t), "")
	if err != nil || answer.Status != health.HealthCheckResponse_SERVING {
		t.Fatalf("not serving: %v, %v", answer, err)
	}
}

func stateRequest(account string) *entitle.GetCustomerStateRequest {
	return &entitle.GetCustomerStateRequest{
		Customer: accountSelector(account), BundleId: bundleID,
	}
}

func accountSelector(account string) *entitle.CustomerSelector {
	return &entitle.CustomerSelector{
		Selector: &entitle.CustomerSelector_AccountId{AccountId: account},
	}
}
