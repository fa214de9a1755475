// Package tender is what a merchant's server asks Tender, with Go's standard library alone. docs/back-end.md explains
// each step.
package tender

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	attempts    = 3
	longestWait = 5 * time.Second
)

// Object is an object of JSON. Its numbers are json.Number, so that amounts stay whole.
type Object = map[string]any

// Error says that Tender refused the call, with code, message and field as it says them, its id in the log, and the whole
// answer.
type Error struct {
	Status                        int
	Code, Message, Field, ErrorID string
	Answer                        []byte
}

func (e *Error) Error() string {
	place := ""
	if e.Field != "" {
		place = " (" + e.Field + ")"
	}
	return fmt.Sprintf("%d %s: %s%s [%s]", e.Status, e.Code, e.Message, place, e.ErrorID)
}

func refusal(status int, text []byte) *Error {
	var answer struct {
		ErrorID string
		Errors  []struct{ ID, Message, PropertyName string }
	}
	refused := &Error{Status: status, Message: string(text), Answer: text}
	if json.Unmarshal(text, &answer) != nil || len(answer.Errors) == 0 {
		return refused // from a proxy
	}
	last := answer.Errors[len(answer.Errors)-1] // has Tender's own words
	refused.Code, refused.Message, refused.Field, refused.ErrorID = last.ID, last.Message, last.PropertyName, answer.ErrorID
	return refused
}

// Client signs a merchant's calls.
type Client struct {
	Server, Merchant, KeyID, Secret string
	HTTP                            *http.Client
}

// FromEnvironment takes server, merchant and key from the variables of docs/back-end.md.
func FromEnvironment() (*Client, error) {
	values := map[string]string{"SHOP_TENDER_URL": "", "SHOP_MERCHANT": "", "SHOP_KEY_ID": "", "SHOP_SECRET": ""}
	for name := range values {
		if values[name] = os.Getenv(name); values[name] == "" {
			return nil, fmt.Errorf("set the environment variable %s", name)
		}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		Server: strings.TrimSuffix(values["SHOP_TENDER_URL"], "/"), Merchant: values["SHOP_MERCHANT"],
		KeyID: values["SHOP_KEY_ID"], Secret: values["SHOP_SECRET"], HTTP: &http.Client{Timeout: 30 * time.Second, CheckRedirect: stay},
	}, nil
}

func (c *Client) PutBasket(ctx context.Context, id string, basket any) (Object, error) {
	return c.Call(ctx, "PUT", c.place("baskets", id), basket, "")
}

func (c *Client) Basket(ctx context.Context, id string) (Object, error) {
	return c.Call(ctx, "GET", c.place("baskets", id), nil, "")
}

func (c *Client) CancelBasket(ctx context.Context, id string) (Object, error) {
	return c.Call(ctx, "DELETE", c.place("baskets", id), nil, "")
}

// Order is nil before the shopper has tried to pay.
func (c *Client) Order(ctx context.Context, id string) (Object, error) {
	basket, err := c.Basket(ctx, id)
	order, _ := basket["order"].(Object)
	return order, err
}

// Pay makes a key of its own where key is empty; so do Capture, Cancel and Refund.
func (c *Client) Pay(ctx context.Context, payment any, key string) (Object, error) {
	return c.Call(ctx, "POST", c.place("payments"), payment, key)
}

func (c *Client) Payment(ctx context.Context, id string) (Object, error) {
	return c.Call(ctx, "GET", c.place("payments", id), nil, "")
}

func (c *Client) Payments(ctx context.Context, parameters url.Values) (Object, error) {
	return c.Call(ctx, "GET", c.place("payments")+query(parameters), nil, "")
}

func (c *Client) Capture(ctx context.Context, id string, document any, key string) (Object, error) {
	return c.Call(ctx, "POST", c.place("payments", id, "capture"), document, key)
}

func (c *Client) Cancel(ctx context.Context, id string, document any, key string) (Object, error) {
	return c.Call(ctx, "POST", c.place("payments", id, "cancel"), document, key)
}

func (c *Client) Refund(ctx context.Context, id string, document any, key string) (Object, error) {
	return c.Call(ctx, "POST", c.place("payments", id, "refund"), document, key)
}

func (c *Client) Events(ctx context.Context, parameters url.Values) (Object, error) {
	return c.Call(ctx, "GET", c.place("events")+query(parameters), nil, "")
}

func (c *Client) Event(ctx context.Context, id string) (Object, error) {
	return c.Call(ctx, "GET", c.place("events", id), nil, "")
}

// IsFromTender says whether signature, the header X-GCS-Signature, is the one of the body's bytes.
func IsFromTender(signature string, body []byte, webhookSecret string) bool {
	// Everybody can sign with an empty secret.
	return webhookSecret != "" && hmac.Equal([]byte(signature), []byte(mac(webhookSecret, body)))
}

// Call repeats the call where no answer comes, or Tender asks for it, under the same idempotency key. A refusal is an
// *Error.
func (c *Client) Call(ctx context.Context, method, path string, document any, key string) (Object, error) {
	var body []byte
	if document != nil {
		encoded, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		body = encoded
	}
	if method == "POST" && key == "" {
		random := make([]byte, 16)
		if _, err := rand.Read(random); err != nil {
			return nil, err
		}
		key = hex.EncodeToString(random)
	}
	for attempt := 1; ; attempt++ {
		status, text, later, err := c.send(ctx, method, path, body, key)
		if err == nil && status/100 == 2 {
			return decoded(text)
		}
		wait := time.Duration(attempt) * time.Second / 2
		if err == nil {
			if later == "" || attempt == attempts {
				return nil, refusal(status, text)
			}
			// A proxy may name a date.
			if seconds, malformed := strconv.ParseUint(later, 10, 30); malformed == nil {
				if wait = time.Duration(seconds) * time.Second; wait > longestWait {
					wait = longestWait
				}
			}
		}
		if attempt == attempts {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Signed has the headers of a call. A body of nil is none, and neither is an empty key.
func (c *Client) Signed(method, path string, body []byte, key, date string) http.Header {
	headers, covered, kind := http.Header{}, "", ""
	headers.Set("Date", date)
	if body != nil {
		hash := sha256.Sum256(body)
		digest := base64.StdEncoding.EncodeToString(hash[:])
		kind, covered = "application/json", "x-gcs-content-sha256:"+digest+"\n"
		headers.Set("Content-Type", kind)
		headers.Set("X-GCS-Content-SHA256", digest)
	}
	if key != "" {
		covered += "x-gcs-idempotence-key:" + key + "\n"
		headers.Set("X-GCS-Idempotence-Key", key)
	}
	text := method + "\n" + kind + "\n" + date + "\n" + covered + path + "\n"
	headers.Set("Authorization", "GCS v1HMAC:"+c.KeyID+":"+mac(c.Secret, []byte(text)))
	return headers
}

func (c *Client) send(ctx context.Context, method, path string, body []byte, key string) (int, []byte, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.Server+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	request.Header = c.Signed(method, path, body, key, time.Now().UTC().Format(http.TimeFormat))
	answer, err := c.HTTP.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, answer.Header.Get("Retry-After"), err
}

func decoded(text []byte) (Object, error) {
	if len(text) == 0 {
		return nil, nil // 204
	}
	var answer Object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&answer)
	return answer, err
}

func (c *Client) place(names ...string) string {
	path := "/v2/" + c.Merchant
	for _, name := range names {
		path += "/" + url.PathEscape(name)
	}
	return path
}

func query(parameters url.Values) string {
	if len(parameters) == 0 {
		return ""
	}
	return "?" + parameters.Encode()
}

func mac(secret string, data []byte) string {
	code := hmac.New(sha256.New, []byte(secret))
	code.Write(data)
	return base64.StdEncoding.EncodeToString(code.Sum(nil))
}
