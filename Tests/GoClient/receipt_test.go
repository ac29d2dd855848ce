package goclient

import (
	"encoding/base64"
	"fmt"
	"testing"

	entitle "example.com/you/entitlev1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestAReceiptAndItsTransactionsAreTheSamePurchases(t *testing.T) {
	client := connect(t)
	const account, seed = "go-receipt", 31
	der := receipt(t, "non-consumable", seed)
	request := &entitle.SubmitReceiptRequest{
		BundleId: bundleID, AccountId: account, Receipt: der,
		Priority: entitle.SubmissionPriority_SUBMISSION_PRIORITY_BULK,
	}
	first := submitReceipt(t, client, request)
	summary := first.GetReceipt()
	if summary.GetBundleId() != bundleID || summary.GetReceiptType() != "Production" ||
		summary.GetEnvironment() != entitle.StoreEnvironment_STORE_ENVIRONMENT_PRODUCTION ||
		summary.GetInAppCount() == 0 || summary.GetCreationMs() == 0 {
		t.Errorf("%v", summary)
	}
	if int64(len(first.GetResults())) != 1+summary.GetInAppCount() {
		t.Errorf("%d results for %d purchases", len(first.GetResults()), summary.GetInAppCount())
	}
	for index, result := range first.GetResults() {
		if result.GetVerdict() != entitle.Verdict_VERDICT_OK ||
			result.GetDisposition() != entitle.Disposition_DISPOSITION_ADDED ||
			result.GetLink() != entitle.LinkOutcome_LINK_OUTCOME_LINKED {
			t.Errorf("result %d: %v", index, result)
		}
	}
	expectEvidence(t, client, account, entitle.Evidence_EVIDENCE_RECEIPT)

	// The signed transactions replace the facts of the receipt and stay.
	submit(t, client, account, history(t, "non-consumable", seed))
	expectEvidence(t, client, account, entitle.Evidence_EVIDENCE_SIGNED_TRANSACTION)
	text := base64.StdEncoding.EncodeToString(der)
	request.Receipt = []byte(text[:64] + "\r\n" + text[64:])
	again := submitReceipt(t, client, request)
	for index, result := range again.GetResults()[1:] {
		if result.GetDisposition() != entitle.Disposition_DISPOSITION_SUPERSEDED {
			t.Errorf("purchase %d: %v", index, result)
		}
	}
	expectEvidence(t, client, account, entitle.Evidence_EVIDENCE_SIGNED_TRANSACTION)
}

func TestAForgedReceiptIsRefusedAsAWhole(t *testing.T) {
	client := connect(t)
	der := receipt(t, "non-consumable", 32)
	// The last bytes are those of the signature.
	der[len(der)-9] ^= 1
	answer, err := client.SubmitReceipt(withPatience(t), &entitle.SubmitReceiptRequest{
		AccountId: "go-receipt-forged", Receipt: der,
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.GetVerdict() != entitle.Verdict_VERDICT_INVALID_SIGNATURE || answer.GetDetail() == "" ||
		answer.GetReceipt() != nil || len(answer.GetResults()) != 0 {
		t.Errorf("%v", answer)
	}
}

func TestAReceiptOfAnotherDeviceIsRefused(t *testing.T) {
	client := connect(t)
	answer, err := client.SubmitReceipt(withPatience(t), &entitle.SubmitReceiptRequest{
		Receipt: receipt(t, "non-consumable", 33), DeviceIdentifier: []byte{0, 1, 2, 3, 4, 255},
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.GetVerdict() != entitle.Verdict_VERDICT_WRONG_DEVICE {
		t.Errorf("%v", answer)
	}
}

func TestABadReceiptRequestIsInvalid(t *testing.T) {
	client := connect(t)
	tests := map[string]*entitle.SubmitReceiptRequest{
		"no receipt": {},
		"too long":   {Receipt: make([]byte, 3<<19+1)},
		"device":     {Receipt: []byte{48}, DeviceIdentifier: make([]byte, 65)},
		"priority":   {Receipt: []byte{48}, Priority: 3},
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.SubmitReceipt(withPatience(t), request)
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("%v, not InvalidArgument", err)
			}
		})
	}
}

func TestAnArchivedResponseNeedsTheCatalogsWord(t *testing.T) {
	client := connect(t)
	_, err := client.ImportArchivedResponse(
		withPatience(t), &entitle.ImportArchivedResponseRequest{
			BundleId: bundleID, AccountId: "go-archive", Response: []byte("{}"),
		})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("%v, not FailedPrecondition", err)
	}
}

// submitReceipt submits a receipt and expects it to be accepted.
func submitReceipt(
	t *testing.T, client *Client, request *entitle.SubmitReceiptRequest,
) *entitle.SubmitReceiptResponse {
	t.Helper()
	answer, err := client.SubmitReceipt(withPatience(t), request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.GetVerdict() != entitle.Verdict_VERDICT_OK {
		t.Fatalf("%v", answer)
	}
	return answer
}

// expectEvidence reads a customer that must have entitlements, all with the same evidence, and
// compares it with the output of entitlectl.
func expectEvidence(t *testing.T, client *Client, account string, evidence entitle.Evidence) {
	t.Helper()
	request := stateRequest(account)
	request.AtMs = proto.Int64(moment)
	answer, err := client.State(withPatience(t), request)
	if err != nil {
		t.Fatal(err)
	}
	sources := 0
	for _, entitlement := range answer.GetState().GetEntitlements() {
		for _, source := range entitlement.GetSources() {
			sources++
			if source.GetEvidence() != evidence {
				t.Errorf("%v, not %v", source, evidence)
			}
		}
	}
	if sources == 0 {
		t.Errorf("%s has nothing", account)
	}
	expectSame(t, answer.GetState(), controlJSON(t, "customer", "get", "--server", server.tcp,
		"--bundle-id", bundleID, "--environment", "production", "--at", fmt.Sprint(moment), account))
}
