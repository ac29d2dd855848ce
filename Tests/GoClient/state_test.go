package goclient

import (
	"testing"

	entitle "example.com/you/entitlev1"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// expectSame compares a state from the server with the JSON of entitlectl, which protojson decodes
// strictly.
func expectSame(t *testing.T, state *entitle.CustomerState, printed []byte) {
	t.Helper()
	read := &entitle.CustomerState{}
	if err := protojson.Unmarshal(printed, read); err != nil {
		t.Fatalf("%v in\n%s", err, printed)
	}
	if !proto.Equal(state, read) {
		t.Errorf("over the wire:\n%s\nfrom entitlectl:\n%s", protojson.Format(state), printed)
	}
}
