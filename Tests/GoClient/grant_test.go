package goclient

import (
	"fmt"
	"strings"
	"testing"

	entitle "example.com/you/entitlev1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestAGrantIsASourceOfItsEntitlementUntilItIsWithdrawn(t *testing.T) {
	client := connect(t)
	ctx := withPatience(t)
	id := "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	add := &entitle.AddGrantRequest{
		GrantId: strings.ToUpper(id), BundleId: bundleID, AccountId: "go-grant",
		EntitlementId: "pro", StartsMs: proto.Int64(moment - 1_000), Reason: "an outage",
		OnBehalfOf: "go-client",
	}
	added, err := client.AddGrant(ctx, add)
	if err != nil {
		t.Fatal(err)
	}
	if added.GetGrant().GetGrantId() != id || !added.GetChanged() || added.GetRevision() == 0 {
		t.Errorf("%v", added)
	}
	again, err := client.AddGrant(ctx, add)
	if err != nil || again.GetChanged() || again.GetRevision() != added.GetRevision() {
		t.Errorf("the same grant again: %v, %v", again, err)
	}

	request := stateRequest("go-grant")
	request.AtMs = proto.Int64(moment)
	answer, err := client.State(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	expectSourceIsGrant(t, answer.GetState(), id)
	expectSame(t, answer.GetState(), controlJSON(t, "customer", "get", "--server", server.tcp,
		"--bundle-id", bundleID, "--environment", "production", "--at", fmt.Sprint(moment),
		"go-grant"))
	expectExplainedByGrant(t, client, id)
	expectGrantInFeed(t, client, added.GetRevision())

	withdrawn, err := client.WithdrawGrant(ctx, &entitle.WithdrawGrantRequest{
		GrantId: id, BundleId: bundleID, Reason: "it is over", OnBehalfOf: "go-client",
	})
	if err != nil || !withdrawn.GetChanged() || withdrawn.GetGrant().GetWithdrawal() == nil {
		t.Fatalf("%v, %v", withdrawn, err)
	}
	after, err := client.State(ctx, stateRequest("go-grant"))
	if err != nil || len(after.GetState().GetEntitlements()) != 0 {
		t.Errorf("after the withdrawal: %v, %v", after, err)
	}
	if after.GetRevision() != withdrawn.GetRevision() {
		t.Errorf("revision %d, not %d", after.GetRevision(), withdrawn.GetRevision())
	}
}

func expectSourceIsGrant(t *testing.T, state *entitle.CustomerState, id string) {
	t.Helper()
	if len(state.GetEntitlements()) != 1 || len(state.GetEntitlements()[0].GetSources()) != 1 {
		t.Fatalf("not one entitlement from one source: %v", state)
	}
	source := state.GetEntitlements()[0].GetSources()[0]
	expected := &entitle.EntitlementSource{GrantId: id, SinceMs: moment - 1_000}
	if !proto.Equal(source, expected) {
		t.Errorf("%v, not %v", source, expected)
	}
}

func expectExplainedByGrant(t *testing.T, client *Client, id string) {
	t.Helper()
	answer, err := client.Explain(withPatience(t), &entitle.ExplainCustomerStateRequest{
		Customer: accountSelector("go-grant"), BundleId: bundleID, AtMs: proto.Int64(moment),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, entitlement := range answer.GetEntitlements() {
		if entitlement.GetConferred() != (entitlement.GetEntitlementId() == "pro") {
			t.Errorf("conferred: %v", entitlement)
		}
		if entitlement.GetEntitlementId() != "pro" {
			continue
		}
		for _, item := range entitlement.GetReasoning().GetConsidered() {
			if item.GetKind() == entitle.ConsideredItem_KIND_GRANT && item.GetIdentifier() == id &&
				item.GetDecisive() {
				return
			}
		}
	}
	t.Errorf("no decisive grant: %v", answer)
}

// The revision of a customer is the sequence number of its latest change.
func expectGrantInFeed(t *testing.T, client *Client, revision int64) {
	t.Helper()
	page, err := client.Changes(withPatience(t), &entitle.ListChangesRequest{
		AfterSequence: revision - 1, PageSize: 1,
	})
	if err != nil || len(page.GetChanges()) != 1 {
		t.Fatalf("%v, %v", page, err)
	}
	change := page.GetChanges()[0]
	if change.GetSequence() != revision || change.GetAccountId() != "go-grant" ||
		!change.GetGrants() || change.GetFacts() {
		t.Errorf("%v", change)
	}
}

func TestAGrantThatCannotBeIsRefused(t *testing.T) {
	client := connect(t)
	tests := map[string]func(*entitle.AddGrantRequest){
		"an id that is no UUID":       func(r *entitle.AddGrantRequest) { r.GrantId = "grant-1" },
		"no account":                  func(r *entitle.AddGrantRequest) { r.AccountId = "" },
		"no reason":                   func(r *entitle.AddGrantRequest) { r.Reason = "" },
		"a reason that is too long":   func(r *entitle.AddGrantRequest) { r.Reason = strings.Repeat("r", 1025) },
		"an unknown entitlement":      func(r *entitle.AddGrantRequest) { r.EntitlementId = "no-such" },
		"an end that is not after it": func(r *entitle.AddGrantRequest) { r.ExpiresMs = r.StartsMs },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			request := &entitle.AddGrantRequest{
				BundleId: bundleID, AccountId: "go-no-grant", EntitlementId: "pro",
				StartsMs: proto.Int64(moment), Reason: "an outage", OnBehalfOf: "go-client",
			}
			spoil(request)
			_, err := client.AddGrant(withPatience(t), request)
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("%v, not InvalidArgument", err)
			}
		})
	}
}
