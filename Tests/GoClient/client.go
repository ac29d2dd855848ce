// Package goclient calls entitled with containerd's own ttrpc client, which this project did not
// write. deploy/test-go-client builds it, without network, from Debian's Go packages.
package goclient

import (
	"context"
	"net"

	entitle "example.com/you/entitlev1"
	health "example.com/you/healthv1"

	"github.com/containerd/ttrpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

const (
	entitlementService = "entitle.v1.EntitlementService"
	adminService       = "entitle.v1.AdminService"
	submissionService  = "entitle.v1.SubmissionService"
	accessService      = "entitle.v1.AccessService"
	healthService      = "grpc.health.v1.Health"
)

// Client holds one connection; any number of goroutines may call it at once.
type Client struct{ rpc *ttrpc.Client }

// Dial connects to a TCP address or, with network "unix", to the path of a socket.
func Dial(network, address string, options ...ttrpc.ClientOpts) (*Client, error) {
	connection, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &Client{ttrpc.NewClient(connection, options...)}, nil
}

// Close ends the connection; calls in flight fail.
func (c *Client) Close() error { return c.rpc.Close() }

// Health asks for the status of a service, or of the whole server with the empty name.
func (c *Client) Health(ctx context.Context, service string) (*health.HealthCheckResponse, error) {
	response := &health.HealthCheckResponse{}
	request := &health.HealthCheckRequest{Service: service}
	return response, c.call(ctx, healthService, "Check", request, response)
}

// State reads one customer.
func (c *Client) State(
	ctx context.Context, request *entitle.GetCustomerStateRequest,
) (*entitle.GetCustomerStateResponse, error) {
	response := &entitle.GetCustomerStateResponse{}
	return response, c.call(ctx, entitlementService, "GetCustomerState", request, response)
}

// States reads several customers of one app.
func (c *Client) States(
	ctx context.Context, request *entitle.BatchGetCustomerStateRequest,
) (*entitle.BatchGetCustomerStateResponse, error) {
	response := &entitle.BatchGetCustomerStateResponse{}
	return response, c.call(ctx, entitlementService, "BatchGetCustomerState", request, response)
}

// Check asks for one entitlement of one customer.
func (c *Client) Check(
	ctx context.Context, request *entitle.CheckEntitlementRequest,
) (*entitle.CheckEntitlementResponse, error) {
	response := &entitle.CheckEntitlementResponse{}
	return response, c.call(ctx, entitlementService, "CheckEntitlement", request, response)
}

// Explain asks for the reasons of one customer's state.
func (c *Client) Explain(
	ctx context.Context, request *entitle.ExplainCustomerStateRequest,
) (*entitle.ExplainCustomerStateResponse, error) {
	response := &entitle.ExplainCustomerStateResponse{}
	return response, c.call(ctx, entitlementService, "ExplainCustomerState", request, response)
}

// List reads one page of customers.
func (c *Client) List(
	ctx context.Context, request *entitle.ListCustomersRequest,
) (*entitle.ListCustomersResponse, error) {
	response := &entitle.ListCustomersResponse{}
	return response, c.call(ctx, entitlementService, "ListCustomers", request, response)
}

// Submit submits signed transactions, renewal infos and app transactions.
func (c *Client) Submit(
	ctx context.Context, request *entitle.SubmitSignedTransactionsRequest,
) (*entitle.SubmitSignedTransactionsResponse, error) {
	response := &entitle.SubmitSignedTransactionsResponse{}
	return response, c.call(ctx, submissionService, "SubmitSignedTransactions", request, response)
}

// Notify submits an App Store Server Notification.
func (c *Client) Notify(
	ctx context.Context, request *entitle.SubmitNotificationRequest,
) (*entitle.SubmitNotificationResponse, error) {
	response := &entitle.SubmitNotificationResponse{}
	return response, c.call(ctx, submissionService, "SubmitNotification", request, response)
}

// SubmitReceipt submits a legacy app receipt.
func (c *Client) SubmitReceipt(
	ctx context.Context, request *entitle.SubmitReceiptRequest,
) (*entitle.SubmitReceiptResponse, error) {
	response := &entitle.SubmitReceiptResponse{}
	return response, c.call(ctx, submissionService, "SubmitReceipt", request, response)
}

// ImportArchivedResponse submits an archived response of verifyReceipt.
func (c *Client) ImportArchivedResponse(
	ctx context.Context, request *entitle.ImportArchivedResponseRequest,
) (*entitle.SubmitReceiptResponse, error) {
	response := &entitle.SubmitReceiptResponse{}
	return response, c.call(ctx, adminService, "ImportArchivedResponse", request, response)
}

// AddGrant gives an account an entitlement outside the App Store.
func (c *Client) AddGrant(
	ctx context.Context, request *entitle.AddGrantRequest,
) (*entitle.GrantResponse, error) {
	response := &entitle.GrantResponse{}
	return response, c.call(ctx, adminService, "AddGrant", request, response)
}

// WithdrawGrant withdraws a grant.
func (c *Client) WithdrawGrant(
	ctx context.Context, request *entitle.WithdrawGrantRequest,
) (*entitle.GrantResponse, error) {
	response := &entitle.GrantResponse{}
	return response, c.call(ctx, adminService, "WithdrawGrant", request, response)
}

// WhoAmI asks for the caller that the server takes this client for.
func (c *Client) WhoAmI(ctx context.Context) (*entitle.WhoAmIResponse, error) {
	response := &entitle.WhoAmIResponse{}
	return response, c.call(ctx, accessService, "WhoAmI", &entitle.WhoAmIRequest{}, response)
}

// Changes reads one page of the change feed.
func (c *Client) Changes(
	ctx context.Context, request *entitle.ListChangesRequest,
) (*entitle.ListChangesResponse, error) {
	response := &entitle.ListChangesResponse{}
	return response, c.call(ctx, adminService, "ListChanges", request, response)
}

func (c *Client) call(
	ctx context.Context, service, method string, request, response proto.Message,
) error {
	return c.rpc.Call(ctx, service, method, message{request}, message{response})
}

// message passes a generated message through ttrpc's codec. Before ttrpc 1.2 that codec uses only
// the older interface of protobuf, which the methods below implement; since 1.2 it finds the
// embedded message.
type message struct{ proto.Message }

func (m message) ProtoMessage()               {}
func (m message) Reset()                      { proto.Reset(m.Message) }
func (m message) String() string              { return prototext.Format(m.Message) }
func (m message) Marshal() ([]byte, error)    { return proto.Marshal(m.Message) }
func (m message) Unmarshal(data []byte) error { return proto.Unmarshal(data, m.Message) }
