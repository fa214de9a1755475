<?php
// php open_token.php SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]
[, $path, $file, $amount, $currency] = $argv;
$data = $argv[5] ?? "";
$call = [
    "call" => "decrypt", "spend" => true,
    // The body of the request, unchanged: file_get_contents("php://input").
    "token" => base64_encode(file_get_contents($file)),
    "confirm" => ["amount" => (int) $amount, "currency" => $currency,
                  "applicationDataHash" => $data === "" ? null : hash("sha256", $data)],
];
if (isset($argv[6])) {
    $call["at"] = $argv[6]; // Only for a token of a test: without it the token must have arrived now.
}

$connection = stream_socket_client("unix://$path") ?: exit(2);
fwrite($connection, json_encode($call) . "\n");
$answer = json_decode(fgets($connection), true);
if (!$answer["verified"]) {
    echo "refused: {$answer["code"]}: {$answer["advice"]}\n";
    exit(1);
}
$card = $answer["paymentData"];
echo "paid {$answer["amount"]} {$answer["currency"]}, card " . substr($card["applicationPrimaryAccountNumber"], -4)
    . ", until {$card["applicationExpirationDate"]}\n";
