package goclient

import (
	"fmt"
	"strings"
	"testing"

	entitle "example.com/you/entitlev1"

	"google.golang.org/protobuf/proto"
)

func TestSubmittedHistoriesReadAsEntitlectlReadsThem(t *testing.T) {
	client := connect(t)
	for _, lifeCycle := range lifeCycles(t) {
		t.Run(lifeCycle, func(t *testing.T) {
			account := "go-" + lifeCycle
			submit(t, client, account, history(t, lifeCycle, 7))

			// Both states are of the same moment, since two clocks would differ.
			request := stateRequest(account)
			request.AtMs = proto.Int64(moment)
			answer, err := client.State(withPatience(t), request)
			if err != nil {
				t.Fatal(err)
			}
			printed := controlJSON(t, "customer", "get", "--server", server.tcp,
				"--bundle-id", bundleID, "--environment", "production",
				"--at", fmt.Sprint(moment), account)
			expectSame(t, answer.GetState(), printed)
			if answer.GetState().GetCoreState() == entitle.CoreState_CORE_STATE_NEW {
				t.Error("NEW although facts were submitted")
			}
		})
	}
}

func TestASecondSubmissionOfTheSameFactsChangesNothing(t *testing.T) {
	client := connect(t)
	payloads := history(t, "renewals", 8)
	first := submit(t, client, "go-twice", payloads)
	second := submit(t, client, "go-twice", payloads)
	for index, result := range second.GetResults() {
		// An older version of a fact is superseded again.
		switch result.GetDisposition() {
		case entitle.Disposition_DISPOSITION_DUPLICATE, entitle.Disposition_DISPOSITION_SUPERSEDED:
		default:
			t.Errorf("item %d: %v", index, result)
		}
	}
	if len(first.GetCustomers()) != 1 || len(second.GetCustomers()) != 1 ||
		first.GetCustomers()[0].GetRevision() != second.GetCustomers()[0].GetRevision() {
		t.Errorf("%v, then %v", first.GetCustomers(), second.GetCustomers())
	}
}

func TestAForgedItemIsRefusedAndKeepsNoOtherOut(t *testing.T) {
	client := connect(t)
	payloads := history(t, "non-consumable", 9)
	forged := append([]string{forge(payloads[0]), "not.a.jws"}, payloads...)
	response, err := client.Submit(withPatience(t), submission("go-forged", forged))
	if err != nil {
		t.Fatal(err)
	}
	expected := []entitle.Verdict{
		entitle.Verdict_VERDICT_INVALID_SIGNATURE, entitle.Verdict_VERDICT_MALFORMED,
	}
	for range payloads {
		expected = append(expected, entitle.Verdict_VERDICT_OK)
	}
	if len(response.GetResults()) != len(expected) {
		t.Fatalf("%d results for %d items", len(response.GetResults()), len(expected))
	}
	for index, verdict := range expected {
		result := response.GetResults()[index]
		if result.GetVerdict() != verdict {
			t.Errorf("item %d: %v, not %v", index, result, verdict)
		}
		if verdict != entitle.Verdict_VERDICT_OK && result.GetDetail() == "" {
			t.Errorf("item %d was refused without a reason", index)
		}
	}
}

func TestAnUnchangedRevisionIsAnsweredWithoutABody(t *testing.T) {
	client := connect(t)
	// A purchase without an end: its state does not change with time.
	submit(t, client, "go-unchanged", history(t, "non-consumable", 10))
	whole, err := client.State(withPatience(t), stateRequest("go-unchanged"))
	if err != nil {
		t.Fatal(err)
	}
	request := stateRequest("go-unchanged")
	request.IfRevisionDiffers = proto.Int64(whole.GetRevision())
	short, err := client.State(withPatience(t), request)
	if err != nil {
		t.Fatal(err)
	}
	if !short.GetNotModified() || short.GetState() != nil {
		t.Errorf("the same revision: %v", short)
	}
	request.IfRevisionDiffers = proto.Int64(whole.GetRevision() - 1)
	if again, err := client.State(withPatience(t), request); err != nil || again.GetState() == nil {
		t.Errorf("another revision: %v, %v", again, err)
	}
}

func TestAllReadsAgree(t *testing.T) {
	client := connect(t)
	ctx := withPatience(t)
	accounts := []string{"go-agree-1", "go-agree-2", "go-agree-3"}
	for index, account := range accounts {
		submit(t, client, account, history(t, "renewals", 20+index))
	}
	batchRequest := &entitle.BatchGetCustomerStateRequest{
		BundleId: bundleID, AtMs: proto.Int64(moment),
	}
	for _, account := range append(accounts, "go-agree-nobody") {
		batchRequest.Customers = append(batchRequest.Customers, accountSelector(account))
	}
	batch, err := client.States(ctx, batchRequest)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch.GetResults()) != len(batchRequest.Customers) {
		t.Fatalf("%d results for %d customers", len(batch.GetResults()), len(batchRequest.Customers))
	}
	for index, selector := range batchRequest.Customers {
		request := &entitle.GetCustomerStateRequest{
			Customer: selector, BundleId: bundleID, AtMs: proto.Int64(moment),
		}
		single, err := client.State(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(single, batch.GetResults()[index]) {
			t.Errorf("alone: %v\nin a batch: %v", single, batch.GetResults()[index])
		}
		expectChecksAgree(t, client, selector, single)
	}
	expectPagesHold(t, client, accounts)
}

// expectChecksAgree checks each entitlement of a state alone, and one that is absent.
func expectChecksAgree(
	t *testing.T, client *Client, selector *entitle.CustomerSelector,
	answer *entitle.GetCustomerStateResponse,
) {
	t.Helper()
	granted := map[string]bool{"no_such_entitlement": false}
	for _, entitlement := range answer.GetState().GetEntitlements() {
		granted[entitlement.GetEntitlementId()] = true
	}
	for entitlement, expected := range granted {
		check, err := client.Check(withPatience(t), &entitle.CheckEntitlementRequest{
			Customer: selector, BundleId: bundleID, EntitlementId: entitlement,
			AtMs: proto.Int64(moment),
		})
		if err != nil {
			t.Fatal(err)
		}
		if check.GetGranted() != expected || check.GetRevision() != answer.GetRevision() {
			t.Errorf("%s of %v: %v", entitlement, selector, check)
		}
	}
}

// expectPagesHold reads all customers in pages of two and expects each account once.
func expectPagesHold(t *testing.T, client *Client, accounts []string) {
	t.Helper()
	found := map[string]int{}
	request := &entitle.ListCustomersRequest{BundleId: bundleID, PageSize: 2}
	for {
		page, err := client.List(withPatience(t), request)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.GetCustomers()) > 2 {
			t.Fatalf("a page of %d", len(page.GetCustomers()))
		}
		for _, customer := range page.GetCustomers() {
			found[customer.GetAccountId()]++
		}
		if page.GetNextPageToken() == "" {
			break
		}
		request.PageToken = page.GetNextPageToken()
	}
	for _, account := range accounts {
		if found[account] != 1 {
			t.Errorf("%s is listed %d times", account, found[account])
		}
	}
}

// submit submits a history and expects all of it to be accepted.
func submit(
	t *testing.T, client *Client, account string, payloads []string,
) *entitle.SubmitSignedTransactionsResponse {
	t.Helper()
	response, err := client.Submit(withPatience(t), submission(account, payloads))
	if err != nil {
		t.Fatal(err)
	}
	if len(response.GetResults()) != len(payloads) {
		t.Fatalf("%d results for %d items", len(response.GetResults()), len(payloads))
	}
	for index, result := range response.GetResults() {
		if result.GetVerdict() != entitle.Verdict_VERDICT_OK {
			t.Fatalf("item %d: %v", index, result)
		}
	}
	return response
}

func submission(account string, payloads []string) *entitle.SubmitSignedTransactionsRequest {
	request := &entitle.SubmitSignedTransactionsRequest{BundleId: bundleID, AccountId: account}
	for _, payload := range payloads {
		request.Items = append(request.Items, &entitle.SignedItem{SignedPayload: payload})
	}
	return request
}

// forge makes the signature of a JWS invalid: it changes the third character from the end.
func forge(jws string) string {
	index := len(jws) - 3
	other := "A"
	if strings.HasPrefix(jws[index:], other) {
		other = "B"
	}
	return jws[:index] + other + jws[index+1:]
}
