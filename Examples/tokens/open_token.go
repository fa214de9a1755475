// go run open_token.go SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
)

type expected struct {
	Amount   int64   `json:"amount"`
	Currency string  `json:"currency"`
	Hash     *string `json:"applicationDataHash"` // null where there is none
}

type call struct {
	Call    string   `json:"call"`
	Token   []byte   `json:"token"` // encoding/json writes base64
	Confirm expected `json:"confirm"`
	Spend   bool     `json:"spend"`
	At      string   `json:"at,omitempty"` // Only for a token of a test: without it the token must have arrived now.
}

type answer struct {
	Verified               bool
	Code, Advice, Currency string
	Amount                 int64
	PaymentData            struct {
		ApplicationPrimaryAccountNumber, ApplicationExpirationDate string
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	arguments := append(os.Args[1:], "", "")
	body, err := os.ReadFile(arguments[1]) // The body of the request, unchanged.
	check(err)
	amount, err := strconv.ParseInt(arguments[2], 10, 64)
	check(err)
	ask := call{Call: "decrypt", Token: body, Spend: true, At: arguments[5]}
	ask.Confirm = expected{Amount: amount, Currency: arguments[3]}
	if data := arguments[4]; data != "" {
		sum := sha256.Sum256([]byte(data))
		text := hex.EncodeToString(sum[:])
		ask.Confirm.Hash = &text
	}

	connection, err := net.Dial("unix", arguments[0])
	check(err)
	defer connection.Close()
	check(json.NewEncoder(connection).Encode(ask))
	var found answer
	check(json.NewDecoder(connection).Decode(&found))
	if !found.Verified {
		fmt.Printf("refused: %s: %s\n", found.Code, found.Advice)
		os.Exit(1)
	}
	card := found.PaymentData
	number := card.ApplicationPrimaryAccountNumber
	fmt.Printf("paid %d %s, card %s, until %s\n", found.Amount, found.Currency, number[len(number)-4:], card.ApplicationExpirationDate)
}
