<?php

// Calls the client in PHP as lines of standard input say, and answers each with a line.

declare(strict_types=1);

require __DIR__ . '/../../../../Examples/back-end/TenderClient.php';

$client = TenderClient::fromEnvironment();
while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    try {
        $answer = ['answer' => $client->{$asked['call']}(...$asked['arguments'])];
    } catch (TenderError $error) {
        $answer = ['refusal' => [
            'status' => $error->status, 'code' => $error->getCode(), 'said' => $error->said, 'field' => $error->field,
            'errorId' => $error->errorId, 'words' => $error->getMessage(),
        ]];
    } catch (TenderUnreachable $error) {
        $answer = ['lost' => $error->getMessage()];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
