<?php

// What a merchant's server asks Tender, with PHP 8.1 alone. docs/back-end.md explains each step.

declare(strict_types=1);

/** Tender refused the call: status, code, message and field as it says them, its id in the log, and the whole answer. */
final class TenderError extends RuntimeException
{
    public readonly mixed $answer;
    public readonly string $said;
    public readonly ?string $field;
    public readonly ?string $errorId;

    public function __construct(public readonly int $status, string $text)
    {
        $this->answer = json_decode($text, true) ?? $text; // text: from a proxy
        $errors = is_array($this->answer) ? $this->answer['errors'] ?? [] : [];
        $error = $errors ? end($errors) : []; // the last has Tender's own words
        $this->said = $error['message'] ?? $text;
        $this->field = $error['propertyName'] ?? null;
        $this->errorId = is_array($this->answer) ? $this->answer['errorId'] ?? null : null;
        $code = $error['id'] ?? '';
        $place = $this->field === null ? '' : " ($this->field)";
        parent::__construct("$status $code: $this->said$place [$this->errorId]");
        $this->code = $code; // what getCode() gives
    }
}

/** No answer came, also not to the repeats. */
final class TenderUnreachable extends RuntimeException
{
}

final class TenderClient
{
    private const ATTEMPTS = 3;
    private const LONGEST_WAIT = 5.0;
    private readonly string $server;

    public function __construct(
        string $server,
        private readonly string $merchant,
        private readonly string $keyId,
        #[SensitiveParameter] private readonly string $secret,
    ) {
        $this->server = rtrim($server, '/');
    }

    public static function fromEnvironment(): self
    {
        $names = ['SHOP_TENDER_URL', 'SHOP_MERCHANT', 'SHOP_KEY_ID', 'SHOP_SECRET'];
        return new self(...array_map(
            fn ($name) => getenv($name) ?: throw new RuntimeException("set the environment variable $name"),
            $names,
        ));
    }

    public function putBasket(string $id, array $basket): array
    {
        return $this->call('PUT', $this->place('baskets', $id), $basket);
    }

    public function basket(string $id): array
    {
        return $this->call('GET', $this->place('baskets', $id));
    }

    public function cancelBasket(string $id): void
    {
        $this->call('DELETE', $this->place('baskets', $id));
    }

    public function order(string $id): ?array
    {
        return $this->basket($id)['order'] ?? null;
    }

    public function pay(array $payment, ?string $key = null): array
    {
        return $this->call('POST', $this->place('payments'), $payment, $key);
    }

    public function payment(string $id): array
    {
        return $this->call('GET', $this->place('payments', $id));
    }

    public function payments(array $parameters = []): array
    {
        return $this->call('GET', $this->place('payments') . self::query($parameters));
    }

    public function capture(string $id, array $document, ?string $key = null): array
    {
        return $this->call('POST', $this->place('payments', $id, 'capture'), $document, $key);
    }

    public function cancel(string $id, array $document, ?string $key = null): array
    {
        return $this->call('POST', $this->place('payments', $id, 'cancel'), $document, $key);
    }

    public function refund(string $id, array $document, ?string $key = null): array
    {
        return $this->call('POST', $this->place('payments', $id, 'refund'), $document, $key);
    }

    public function events(array $parameters = []): array
    {
        return $this->call('GET', $this->place('events') . self::query($parameters));
    }

    public function event(string $id): array
    {
        return $this->call('GET', $this->place('events', $id));
    }

    /** Whether $signature, the header X-GCS-Signature, is the one of the body's bytes. */
    public static function isFromTender(string $signature, string $body, string $webhookSecret): bool
    {
        // Everybody can sign with an empty secret.
        return $webhookSecret !== '' && hash_equals(self::mac($webhookSecret, $body), $signature);
    }

    /** Repeats the call where no answer comes, or Tender asks for it, under the same idempotency key. */
    public function call(string $method, string $path, ?array $document = null, ?string $key = null): ?array
    {
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
        // An empty array of PHP is a list.
        $body = $document === null ? null : json_encode($document ?: new stdClass(), $flags);
        $key ??= $method === 'POST' ? bin2hex(random_bytes(16)) : null;
        for ($attempt = 1; ; $attempt++) {
            [$status, $text, $later] = $this->send($method, $path, $body, $key);
            if ($status >= 200 && $status < 300) {
                return $text === '' ? null : json_decode($text, true, flags: JSON_THROW_ON_ERROR); // 204 has no body
            }
            if ($status > 0 && ($later === null || $attempt === self::ATTEMPTS)) {
                throw new TenderError($status, $text);
            }
            if ($attempt === self::ATTEMPTS) {
                throw new TenderUnreachable("$method $path: $text");
            }
            // A proxy may name a date.
            $names = preg_match('/^[0-9]{1,9}$/D', $later ?? '') === 1;
            usleep((int) (1e6 * ($names ? min((float) $later, self::LONGEST_WAIT) : $attempt / 2)));
        }
    }

    /** The headers of a call, by name. $body is its text, $key the idempotency key. */
    public function signed(string $method, string $path, ?string $body, ?string $key, ?string $date = null): array
    {
        $headers = ['Date' => $date ?? gmdate('D, d M Y H:i:s') . ' GMT'];
        $covered = [];
        if ($body !== null) {
            $digest = base64_encode(hash('sha256', $body, true));
            $headers += ['Content-Type' => 'application/json', 'X-GCS-Content-SHA256' => $digest];
            $covered[] = "x-gcs-content-sha256:$digest";
        }
        if ($key !== null) {
            $headers['X-GCS-Idempotence-Key'] = $key;
            $covered[] = "x-gcs-idempotence-key:$key";
        }
        $lines = [$method, $headers['Content-Type'] ?? '', $headers['Date'], ...$covered, $path, ''];
        $mac = self::mac($this->secret, implode("\n", $lines));
        return $headers + ['Authorization' => "GCS v1HMAC:$this->keyId:$mac"];
    }

    /** Status, text and Retry-After; the status is 0 where no answer came. */
    private function send(string $method, string $path, ?string $body, ?string $key): array
    {
        $headers = $this->signed($method, $path, $body, $key);
        $lines = array_map(fn ($name) => "$name: $headers[$name]", array_keys($headers));
        $context = stream_context_create(['http' => [
            'method' => $method, 'header' => $lines, 'content' => $body ?? '', 'ignore_errors' => true,
            'follow_location' => 0, 'timeout' => 30, 'protocol_version' => 1.1,
        ]]);
        $stream = @fopen($this->server . $path, 'r', false, $context);
        if ($stream === false) {
            return [0, error_get_last()['message'] ?? 'no answer', null];
        }
        $answer = stream_get_meta_data($stream)['wrapper_data'];
        $text = (string) stream_get_contents($stream);
        fclose($stream);
        $status = (int) explode(' ', $answer[0])[1];
        $length = preg_filter('/^Content-Length:\s*/i', '', $answer);
        // PHP takes an answer for whole whose connection has ended.
        if ($length ? strlen($text) !== (int) end($length) : $text === '' && $status !== 204) {
            return [0, 'the answer was cut', null];
        }
        $later = preg_filter('/^Retry-After:\s*/i', '', $answer);
        return [$status, $text, $later ? trim(end($later)) : null];
    }

    private function place(string ...$names): string
    {
        return implode('/', ['', 'v2', $this->merchant, ...array_map(rawurlencode(...), $names)]);
    }

    private static function query(array $parameters): string
    {
        return $parameters ? '?' . http_build_query($parameters) : '';
    }

    private static function mac(string $secret, string $data): string
    {
        return base64_encode(hash_hmac('sha256', $data, $secret, true));
    }
}
