import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Calls the client in Java as lines of standard input say, and answers each with a line. */
public final class Driver {
  @SuppressWarnings("unchecked")
  public static void main(String[] none) throws Exception {
    TenderClient client = TenderClient.fromEnvironment();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<String, Object> asked = (Map<String, Object>) TenderClient.Json.read(line);
      Map<String, Object> answer = new HashMap<>();
      try {
        answer.put("answer", called(client, (String) asked.get("call"), (List<Object>) asked.get("arguments")));
      } catch (TenderClient.TenderException error) {
        Map<String, Object> refusal = new LinkedHashMap<>();
        refusal.put("status", error.status);
        refusal.put("code", error.code);
        refusal.put("said", error.said);
        refusal.put("field", error.field);
        refusal.put("errorId", error.errorId);
        refusal.put("words", error.getMessage());
        answer.put("refusal", refusal);
      } catch (IOException error) {
        answer.put("lost", error.toString());
      }
      out.println(TenderClient.Json.write(answer));
    }
  }

  @SuppressWarnings("unchecked")
  private static Object called(TenderClient client, String name, List<Object> given)
      throws IOException, InterruptedException {
    String id = given.isEmpty() || !(given.get(0) instanceof String) ? null : (String) given.get(0);
    Map<String, Object> document = given.stream().filter(Map.class::isInstance).map(one -> (Map<String, Object>) one)
        .findFirst().orElse(Map.of());
    boolean hasKey = given.size() > 1 && given.get(given.size() - 1) instanceof String;
    String key = hasKey ? (String) given.get(given.size() - 1) : null;
    switch (name) {
      case "signed":
        return client.signed(id, (String) given.get(1), (String) given.get(2), (String) given.get(3), (String) given.get(4));
      case "isFromTender":
        return TenderClient.isFromTender(id, ((String) given.get(1)).getBytes(StandardCharsets.UTF_8), key);
      case "putBasket": return client.putBasket(id, document);
      case "basket": return client.basket(id);
      case "cancelBasket":
        client.cancelBasket(id);
        return null;
      case "order": return client.order(id);
      case "pay": return client.pay(document, key);
      case "payment": return client.payment(id);
      case "payments": return client.payments(document);
      case "capture": return client.capture(id, document, key);
      case "cancel": return client.cancel(id, document, key);
      case "refund": return client.refund(id, document, key);
      case "events": return client.events(document);
      case "event": return client.event(id);
      default: throw new IllegalArgumentException(name);
    }
  }
}
