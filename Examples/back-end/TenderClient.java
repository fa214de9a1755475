import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a merchant's server asks Tender, with Java 17 alone. docs/back-end.md explains each step. Documents of JSON are maps,
 * lists, texts, numbers (BigDecimal), booleans and null.
 */
public final class TenderClient {
  /** Tender refused the call: status, code, message and field as it says them, its id in the log, and the whole answer. */
  public static final class TenderException extends IOException {
    private static final long serialVersionUID = 1;

    public final int status;
    public final String code, said, field, errorId;
    public final transient Object answer;

    TenderException(int status, String text) {
      this(status, text, parsed(text));
    }

    private TenderException(int status, String text, Object answer) {
      this(status, text, answer, last(answer));
    }

    private TenderException(int status, String text, Object answer, Map<?, ?> error) {
      this(status, answer, text(error, "id", ""), text(error, "message", text), text(error, "propertyName", null),
          answer instanceof Map<?, ?> whole ? text(whole, "errorId", null) : null);
    }

    private TenderException(int status, Object answer, String code, String said, String field, String errorId) {
      super(status + " " + code + ": " + said + (field == null ? "" : " (" + field + ")") + " [" + errorId + "]");
      this.status = status;
      this.answer = answer;
      this.code = code;
      this.said = said;
      this.field = field;
      this.errorId = errorId;
    }

    private static Object parsed(String text) {
      try {
        return Json.read(text);
      } catch (IllegalArgumentException fromProxy) {
        return text;
      }
    }

    /** The last error has Tender's own words. */
    private static Map<?, ?> last(Object answer) {
      boolean has = answer instanceof Map<?, ?> whole && whole.get("errors") instanceof List<?> errors && !errors.isEmpty();
      if (!has) return Map.of();
      List<?> errors = (List<?>) ((Map<?, ?>) answer).get("errors");
      return errors.get(errors.size() - 1) instanceof Map<?, ?> error ? error : Map.of();
    }

    private static String text(Map<?, ?> object, String name, String otherwise) {
      return object.get(name) instanceof String text ? text : otherwise;
    }
  }

  private static final int ATTEMPTS = 3;
  private static final double LONGEST_WAIT = 5;
  private final String server, merchant, keyId, secret;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();

  public TenderClient(String server, String merchant, String keyId, String secret) {
    this.server = server.replaceFirst("/$", "");
    this.merchant = merchant;
    this.keyId = keyId;
    this.secret = secret;
  }

  public static TenderClient fromEnvironment() {
    return new TenderClient(
        variable("SHOP_TENDER_URL"), variable("SHOP_MERCHANT"), variable("SHOP_KEY_ID"), variable("SHOP_SECRET"));
  }

  private static String variable(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) throw new IllegalStateException("set the environment variable " + name);
    return value;
  }

  public Map<String, Object> putBasket(String id, Map<String, ?> basket) throws IOException, InterruptedException {
    return call("PUT", place("baskets", id), basket, null);
  }

  public Map<String, Object> basket(String id) throws IOException, InterruptedException {
    return call("GET", place("baskets", id), null, null);
  }

  public void cancelBasket(String id) throws IOException, InterruptedException {
    call("DELETE", place("baskets", id), null, null);
  }

  /** Null before the shopper has tried to pay. */
  public Object order(String id) throws IOException, InterruptedException {
    return basket(id).get("order");
  }

  /** Without a key it makes one; so do capture, cancel and refund. */
  public Map<String, Object> pay(Map<String, ?> payment, String key) throws IOException, InterruptedException {
    return call("POST", place("payments"), payment, key);
  }

  public Map<String, Object> payment(String id) throws IOException, InterruptedException {
    return call("GET", place("payments", id), null, null);
  }

  public Map<String, Object> payments(Map<String, ?> parameters) throws IOException, InterruptedException {
    return call("GET", place("payments") + query(parameters), null, null);
  }

  public Map<String, Object> capture(String id, Map<String, ?> document, String key)
      throws IOException, InterruptedException {
    return call("POST", place("payments", id, "capture"), document, key);
  }

  public Map<String, Object> cancel(String id, Map<String, ?> document, String key)
      throws IOException, InterruptedException {
    return call("POST", place("payments", id, "cancel"), document, key);
  }

  public Map<String, Object> refund(String id, Map<String, ?> document, String key)
      throws IOException, InterruptedException {
    return call("POST", place("payments", id, "refund"), document, key);
  }

  public Map<String, Object> events(Map<String, ?> parameters) throws IOException, InterruptedException {
    return call("GET", place("events") + query(parameters), null, null);
  }

  public Map<String, Object> event(String id) throws IOException, InterruptedException {
    return call("GET", place("events", id), null, null);
  }

  /** Whether signature, the header X-GCS-Signature, is the one of the body's bytes. */
  public static boolean isFromTender(String signature, byte[] body, String webhookSecret) {
    // Everybody can sign with an empty secret.
    return !webhookSecret.isEmpty() && MessageDigest.isEqual(utf8(signature), utf8(mac(webhookSecret, body)));
  }

  /** Repeats the call where no answer comes, or Tender asks for it, under the same idempotency key. */
  @SuppressWarnings("unchecked")
  public Map<String, Object> call(String method, String path, Map<String, ?> document, String key)
      throws IOException, InterruptedException {
    String body = document == null ? null : Json.write(document);
    String kept = key == null && method.equals("POST") ? UUID.randomUUID().toString() : key;
    for (int attempt = 1; ; attempt++) {
      double wait = attempt / 2.0;
      try {
        HttpResponse<String> answer = send(method, path, body, kept);
        if (answer.statusCode() / 100 == 2) {
          return answer.body().isEmpty() ? null : (Map<String, Object>) Json.read(answer.body()); // 204 has no body
        }
        String later = answer.headers().firstValue("Retry-After").orElse(null);
        if (later == null || attempt == ATTEMPTS) throw new TenderException(answer.statusCode(), answer.body());
        if (later.matches("[0-9]{1,9}")) wait = Math.min(Integer.parseInt(later), LONGEST_WAIT); // a proxy may name a date
      } catch (TenderException refusal) {
        throw refusal;
      } catch (IOException lost) {
        if (attempt == ATTEMPTS) throw lost;
      }
      Thread.sleep((long) (wait * 1000));
    }
  }

  /** The headers of a call. A body of null is none; so is a key. */
  public Map<String, String> signed(String method, String path, String body, String key, String date) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Date", date);
    List<String> lines = new ArrayList<>(List.of(method, body == null ? "" : "application/json", date));
    if (body != null) {
      String digest = Base64.getEncoder().encodeToString(sha256(utf8(body)));
      headers.put("Content-Type", "application/json");
      headers.put("X-GCS-Content-SHA256", digest);
      lines.add("x-gcs-content-sha256:" + digest);
    }
    if (key != null) {
      headers.put("X-GCS-Idempotence-Key", key);
      lines.add("x-gcs-idempotence-key:" + key);
    }
    lines.addAll(List.of(path, ""));
    headers.put("Authorization", "GCS v1HMAC:" + keyId + ":" + mac(secret, utf8(String.join("\n", lines))));
    return headers;
  }

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT);

  private HttpResponse<String> send(String method, String path, String body, String key)
      throws IOException, InterruptedException {
    HttpRequest.BodyPublisher publisher =
        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server + path)).method(method, publisher).timeout(Duration.ofSeconds(30));
    signed(method, path, body, key, DATE.format(ZonedDateTime.now(ZoneOffset.UTC))).forEach(request::header);
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private String place(String... names) {
    return "/v2/" + merchant + Arrays.stream(names).map(name -> "/" + encoded(name)).collect(Collectors.joining());
  }

  private static String query(Map<String, ?> parameters) {
    return parameters.entrySet().stream()
        .map(entry -> encoded(entry.getKey()) + "=" + encoded(String.valueOf(entry.getValue())))
        .collect(Collectors.joining("&", parameters.isEmpty() ? "" : "?", ""));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] sha256(byte[] data) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(data);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible); // every Java has it
    }
  }

  private static String mac(String secret, byte[] data) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(utf8(secret), "HmacSHA256"));
      return Base64.getEncoder().encodeToString(mac.doFinal(data));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** JSON, which Java's own library has not. Use your own reader for the text of Json.write if you have one. */
  public static final class Json {
    private final String text;
    private int at;

    private Json(String text) {
      this.text = text;
    }

    public static Object read(String text) {
      Json json = new Json(text);
      Object value = json.value();
      if (json.peek() != 0) throw json.malformed();
      return value;
    }

    public static String write(Object value) {
      StringBuilder out = new StringBuilder();
      write(value, out);
      return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
      if (value instanceof Map<?, ?> object) {
        String comma = "{";
        for (Map.Entry<?, ?> member : object.entrySet()) {
          out.append(comma);
          quote((String) member.getKey(), out);
          out.append(':');
          write(member.getValue(), out);
          comma = ",";
        }
        out.append(object.isEmpty() ? "{}" : "}");
      } else if (value instanceof List<?> list) {
        String comma = "[";
        for (Object element : list) {
          out.append(comma);
          write(element, out);
          comma = ",";
        }
        out.append(list.isEmpty() ? "[]" : "]");
      } else if (value instanceof String words) {
        quote(words, out);
      } else if (value instanceof BigDecimal number) {
        out.append(number.toPlainString());
      } else if (value == null || value instanceof Boolean || value instanceof Number) {
        out.append(value);
      } else {
        throw new IllegalArgumentException("JSON has no " + value.getClass());
      }
    }

    private static void quote(String words, StringBuilder out) {
      out.append('"');
      for (char letter : words.toCharArray()) {
        if (letter == '"' || letter == '\\') out.append('\\').append(letter);
        else if (letter < ' ') out.append(String.format("\\u%04x", (int) letter));
        else out.append(letter);
      }
      out.append('"');
    }

    private Object value() {
      char first = peek();
      if (first == '{') return object();
      if (first == '[') return list();
      if (first == '"') return string();
      int begin = at;
      while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
      String word = text.substring(begin, at);
      switch (word) {
        case "true": return true;
        case "false": return false;
        case "null": return null;
        default: return new BigDecimal(word); // a NumberFormatException is an IllegalArgumentException
      }
    }

    private Map<String, Object> object() {
      Map<String, Object> members = new LinkedHashMap<>();
      for (take('{'); peek() != '}'; skipComma('}')) {
        String name = string();
        take(':');
        members.put(name, value());
      }
      take('}');
      return members;
    }

    private List<Object> list() {
      List<Object> elements = new ArrayList<>();
      for (take('['); peek() != ']'; skipComma(']')) elements.add(value());
      take(']');
      return elements;
    }

    private String string() {
      take('"');
      StringBuilder words = new StringBuilder();
      while (next() != '"') {
        char letter = text.charAt(at++);
        if (letter != '\\') {
          words.append(letter);
          continue;
        }
        int escape = "\"\\/bfnrt".indexOf(next());
        if (escape >= 0) words.append("\"\\/\b\f\n\r\t".charAt(escape));
        else if (next() == 'u' && at + 4 < text.length()) words.append((char) Integer.parseInt(text, at + 1, at += 5, 16));
        else throw malformed();
        if (escape >= 0) at++;
      }
      at++;
      return words.toString();
    }

    private char next() {
      if (at >= text.length()) throw malformed();
      return text.charAt(at);
    }

    /** The next character that is no space; 0 at the end. */
    private char peek() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      return at < text.length() ? text.charAt(at) : 0;
    }

    private void take(char wanted) {
      if (peek() != wanted) throw malformed();
      at++;
    }

    private void skipComma(char end) {
      if (peek() == ',') {
        at++;
        if (peek() == end) throw malformed();
      } else if (peek() != end) {
        throw malformed();
      }
    }

    private IllegalArgumentException malformed() {
      return new IllegalArgumentException("no JSON at " + at);
    }
  }
}
