package goclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var programs = flag.String("programs", "", "folder of entitled, entitlectl and storesim")

const (
	bundleID = "com.example.scribe"
	// A generous limit for operations that take far less.
	patience = 60 * time.Second
	// entitled's exit code when an address is in use.
	addressInUse = 69
)

// moment is the date up to which histories are signed and at which states are read, in
// milliseconds.
var moment = time.Now().UnixMilli()

// server is the entitled that all tests share.
var server *process

// process is a running entitled with its folder of files.
type process struct {
	command   *exec.Cmd
	log       *bytes.Buffer
	ended     chan struct{}
	authority string
	tcp       string
	socket    string
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "goclient")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	if server, err = start(directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "--- entitled's log ---\n%s", server.log)
	}
	return code
}

// start creates an authority and a catalog and starts entitled with them, on a free port and on a
// Unix socket.
func start(directory string) (*process, error) {
	authority := filepath.Join(directory, "authority")
	fingerprints, err := output("storesim", "authority", "--directory", authority)
	if err != nil {
		return nil, err
	}
	catalog, err := output("storesim", "catalog")
	if err != nil {
		return nil, err
	}
	catalogFile := filepath.Join(directory, "catalog.yaml")
	if err := os.WriteFile(catalogFile, catalog, 0o600); err != nil {
		return nil, err
	}
	// Another process may take the chosen port before entitled listens on it: then try again.
	for attempt := 0; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		started := &process{
			log:       &bytes.Buffer{},
			ended:     make(chan struct{}),
			authority: authority,
			tcp:       fmt.Sprintf("127.0.0.1:%d", port),
			socket:    filepath.Join(directory, "entitled.sock"),
		}
		arguments := []string{
			"--listen", started.tcp, "--listen", "unix:" + started.socket,
			"--catalog", catalogFile, "--store", "sqlite:" + filepath.Join(directory, "store.sqlite"),
			"--create",
		}
		// One root for what is signed as a JWS, one for receipts.
		for _, fingerprint := range strings.Fields(string(fingerprints)) {
			arguments = append(arguments, "--trust-root", "production="+fingerprint)
		}
		started.command = exec.Command(filepath.Join(*programs, "entitled"), arguments...)
		started.command.Stdout = started.log
		started.command.Stderr = started.log
		if err := started.command.Start(); err != nil {
			return nil, err
		}
		go func() {
			_ = started.command.Wait() // ProcessState has the same error.
			close(started.ended)
		}()
		err = started.awaitServing()
		if err == nil {
			return started, nil
		}
		if attempt == 4 || started.exitCode() != addressInUse {
			_ = started.command.Process.Kill()
			<-started.ended
			return nil, fmt.Errorf("entitled did not start: %w\n%s", err, started.log)
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (p *process) awaitServing() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if client, err := Dial("tcp", p.tcp); err == nil {
			answer, err := client.Health(ctx, "")
			client.Close()
			if err == nil && answer.Status.String() == "SERVING" {
				return nil
			}
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended with exit code %d", p.exitCode())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond): // The interval of attempts.
		}
	}
}

// exitCode is -1 while the process runs.
func (p *process) exitCode() int {
	select {
	case <-p.ended:
		return p.command.ProcessState.ExitCode()
	default:
		return -1
	}
}

// stop sends SIGTERM to entitled and expects a clean exit.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("entitled had ended before: exit code %d", p.exitCode())
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		<-p.ended
		return errors.New("entitled did not stop on SIGTERM")
	}
	if code := p.exitCode(); code != 0 {
		return fmt.Errorf("entitled stopped with exit code %d", code)
	}
	return nil
}

// lifeCycles names the histories that storesim can sign.
func lifeCycles(t *testing.T) []string {
	t.Helper()
	text, err := output("storesim", "life-cycles", "--output", "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var lifeCycle struct{ Name string }
		if err := decoder.Decode(&lifeCycle); err != nil {
			t.Fatal(err)
		}
		names = append(names, lifeCycle.Name)
	}
	if len(names) == 0 {
		t.Fatal("storesim lists no life cycles")
	}
	return names
}

// history is everything that the simulated App Store has signed for one customer up to the moment
// of the tests.
func history(t *testing.T, lifeCycle string, seed int) []string {
	t.Helper()
	text, err := output("storesim", "sign", "--authority", server.authority, "--life-cycle",
		lifeCycle, "--seed", fmt.Sprint(seed), "--at", fmt.Sprint(moment),
		"--environment", "production")
	if err != nil {
		t.Fatal(err)
	}
	payloads := strings.Fields(string(text))
	if len(payloads) == 0 {
		t.Fatalf("nothing was signed for %s", lifeCycle)
	}
	return payloads
}

// receipt is the legacy receipt, in DER, of the customer with that history.
func receipt(t *testing.T, lifeCycle string, seed int) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "receipt.der")
	if _, err := output("storesim", "receipt", "--authority", server.authority, "--life-cycle",
		lifeCycle, "--seed", fmt.Sprint(seed), "--at", fmt.Sprint(moment),
		"--environment", "production", "--output", file); err != nil {
		t.Fatal(err)
	}
	contents, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// output runs one of the programs and returns its standard output.
func output(program string, arguments ...string) ([]byte, error) {
	command := exec.Command(filepath.Join(*programs, program), arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(arguments, " "), err, &stderr)
	}
	return stdout.Bytes(), nil
}

// controlJSON is the output of entitlectl with --output json.
func controlJSON(t *testing.T, arguments ...string) []byte {
	t.Helper()
	text, err := output("entitlectl", append(arguments, "--output", "json")...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// connect returns a client over TCP that is closed at the end of the test.
func connect(t *testing.T) *Client {
	t.Helper()
	client, err := Dial("tcp", server.tcp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func withPatience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
