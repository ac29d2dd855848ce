package goclient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	entitle "example.com/you/entitlev1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// expectSame compares a state that came over the wire with the document that entitlectl printed,
// field by field.
func expectSame(t *testing.T, state *entitle.CustomerState, document map[string]any) {
	t.Helper()
	own := documentOf(state.ProtoReflect())
	if !reflect.DeepEqual(own, document) {
		t.Errorf("over the wire:\n%s\nfrom entitlectl:\n%s", pretty(own), pretty(document))
	}
}

func pretty(document map[string]any) string {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// documentOf writes a message in the form that entitlectl documents: the names of Protos/, values
// of enumerations without the enumeration's name, and what is absent left out.
func documentOf(message protoreflect.Message) map[string]any {
	document := map[string]any{}
	fields := message.Descriptor().Fields()
	for index := 0; index < fields.Len(); index++ {
		field := fields.Get(index)
		if field.HasPresence() && !message.Has(field) {
			continue
		}
		value := message.Get(field)
		if field.IsList() {
			if onlyWhenAny[field.Name()] && value.List().Len() == 0 {
				continue
			}
			list := []any{}
			for item := 0; item < value.List().Len(); item++ {
				list = append(list, valueOf(field, value.List().Get(item)))
			}
			document[string(field.Name())] = list
		} else if one := valueOf(field, value); one != nil {
			document[string(field.Name())] = one
		}
	}
	return document
}

// onlyWhenAny are the lists that entitlectl leaves out when they are empty.
var onlyWhenAny = map[protoreflect.Name]bool{"win_back_offer_ids": true}

// valueOf is nil for an empty string and an unspecified enumeration: both mean that there is none.
func valueOf(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return documentOf(value.Message())
	case protoreflect.EnumKind:
		return enumerationName(field.Enum(), value.Enum())
	case protoreflect.StringKind:
		if value.String() == "" {
			return nil
		}
		return value.String()
	case protoreflect.BoolKind:
		return value.Bool()
	default:
		return json.Number(fmt.Sprint(value.Interface()))
	}
}

// appleNames are those of the environments, which entitlectl prints as Apple spells them.
var appleNames = map[entitle.StoreEnvironment]string{
	entitle.StoreEnvironment_STORE_ENVIRONMENT_PRODUCTION:    "Production",
	entitle.StoreEnvironment_STORE_ENVIRONMENT_SANDBOX:       "Sandbox",
	entitle.StoreEnvironment_STORE_ENVIRONMENT_XCODE:         "Xcode",
	entitle.StoreEnvironment_STORE_ENVIRONMENT_LOCAL_TESTING: "LocalTesting",
}

func enumerationName(
	enumeration protoreflect.EnumDescriptor, number protoreflect.EnumNumber,
) any {
	if number == 0 {
		return nil
	}
	value := enumeration.Values().ByNumber(number)
	if value == nil {
		return json.Number(fmt.Sprint(number))
	}
	if enumeration.Name() == "StoreEnvironment" {
		return appleNames[entitle.StoreEnvironment(number)]
	}
	// The values of CallToAction are CALL_TO_ACTION_NONE and so on, beside the unspecified one.
	prefix := strings.TrimSuffix(string(enumeration.Values().ByNumber(0).Name()), "UNSPECIFIED")
	return strings.TrimPrefix(string(value.Name()), prefix)
}

func TestDocumentsLeaveOutWhatIsAbsent(t *testing.T) {
	state := &entitle.CustomerState{
		BundleId:      bundleID,
		Environment:   entitle.StoreEnvironment_STORE_ENVIRONMENT_SANDBOX,
		CoreState:     entitle.CoreState_CORE_STATE_NEW,
		CallsToAction: []entitle.CallToAction{entitle.CallToAction_CALL_TO_ACTION_MERCHANDISE},
		Groups: []*entitle.GroupState{
			{GroupId: "1", Standing: &entitle.Standing{WillRenew: proto.Bool(false)}},
		},
	}
	document := documentOf(state.ProtoReflect())
	expected := map[string]any{
		"bundle_id": bundleID, "environment": "Sandbox", "core_state": "NEW",
		"calls_to_action": []any{"MERCHANDISE"}, "revision": json.Number("0"),
		"evaluated_at_ms": json.Number("0"), "entitlements": []any{}, "products": []any{},
		"grandfathering": []any{},
		"groups": []any{map[string]any{
			"group_id": "1", "trial_used": false, "introductory_offer_used": false,
			"standing": map[string]any{
				"will_renew": false, "period_start_ms": json.Number("0"),
				"first_purchase_at_ms": json.Number("0"), "notices": []any{},
			},
		}},
	}
	if !reflect.DeepEqual(document, expected) {
		t.Errorf("%s\nnot\n%s", pretty(document), pretty(expected))
	}
}
