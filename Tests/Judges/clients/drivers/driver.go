// Calls the client in Go as lines of standard input say, and answers each with a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"

	tender "shop/tender"
)

type asked struct {
	Call      string
	Arguments []any
}

func (a asked) text(place int) string {
	if place >= len(a.Arguments) {
		return ""
	}
	text, _ := a.Arguments[place].(string)
	return text
}

func (a asked) document(place int) any {
	if place >= len(a.Arguments) {
		return nil
	}
	return a.Arguments[place]
}

func (a asked) parameters() url.Values {
	values := url.Values{}
	given, _ := a.document(0).(map[string]any)
	for name, value := range given {
		values.Set(name, fmt.Sprint(value))
	}
	return values
}

func called(ctx context.Context, client *tender.Client, a asked) (any, error) {
	switch a.Call {
	case "signed":
		var body []byte
		if text, ok := a.document(2).(string); ok {
			body = []byte(text)
		}
		headers := map[string]string{}
		for name, values := range client.Signed(a.text(0), a.text(1), body, a.text(3), a.text(4)) {
			headers[name] = values[0]
		}
		return headers, nil
	case "isFromTender":
		return tender.IsFromTender(a.text(0), []byte(a.text(1)), a.text(2)), nil
	case "putBasket":
		return client.PutBasket(ctx, a.text(0), a.document(1))
	case "basket":
		return client.Basket(ctx, a.text(0))
	case "cancelBasket":
		return client.CancelBasket(ctx, a.text(0))
	case "order":
		return client.Order(ctx, a.text(0))
	case "pay":
		return client.Pay(ctx, a.document(0), a.text(1))
	case "payment":
		return client.Payment(ctx, a.text(0))
	case "payments":
		return client.Payments(ctx, a.parameters())
	case "capture":
		return client.Capture(ctx, a.text(0), a.document(1), a.text(2))
	case "cancel":
		return client.Cancel(ctx, a.text(0), a.document(1), a.text(2))
	case "refund":
		return client.Refund(ctx, a.text(0), a.document(1), a.text(2))
	case "events":
		return client.Events(ctx, a.parameters())
	case "event":
		return client.Event(ctx, a.text(0))
	}
	return nil, errors.New(a.Call)
}

func main() {
	client, err := tender.FromEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a asked
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			panic(err)
		}
		answer, err := called(context.Background(), client, a)
		result := map[string]any{"answer": answer}
		var refusal *tender.Error
		if errors.As(err, &refusal) {
			result = map[string]any{"refusal": map[string]any{
				"status": refusal.Status, "code": refusal.Code, "said": refusal.Message, "field": nil,
				"errorId": refusal.ErrorID, "words": refusal.Error(),
			}}
			if refusal.Field != "" {
				result["refusal"].(map[string]any)["field"] = refusal.Field
			}
		} else if err != nil {
			result = map[string]any{"lost": err.Error()}
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
}
