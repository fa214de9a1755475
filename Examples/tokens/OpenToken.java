// java OpenToken.java SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]
import java.io.BufferedReader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** Java 17 has channels of Unix-domain sockets, and no JSON: a shop reads the answer with the library that it has. */
public class OpenToken {
  public static void main(String[] arguments) throws Exception {
    // The body of the request, unchanged.
    String token = Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(arguments[1])));
    String data = arguments.length > 4 ? arguments[4] : "";
    String hash = data.isEmpty() ? "null" : '"' + hash(data) + '"';
    // Only for a token of a test: without it the token must have arrived now.
    String at = arguments.length > 5 ? ",\"at\":\"" + arguments[5] + '"' : "";
    String call = "{\"call\":\"decrypt\",\"spend\":true,\"token\":\"" + token + "\",\"confirm\":{\"amount\":"
        + Long.parseLong(arguments[2]) + ",\"currency\":\"" + arguments[3] + "\",\"applicationDataHash\":" + hash + "}" + at + "}\n";

    String answer;
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(arguments[0]))) {
      ByteBuffer bytes = ByteBuffer.wrap(call.getBytes("UTF-8"));
      while (bytes.hasRemaining()) channel.write(bytes);
      answer = new BufferedReader(Channels.newReader(channel, "UTF-8")).readLine();
    }
    if (!answer.contains("\"verified\":true")) {
      System.out.println("refused: " + member(answer, "code") + ": " + member(answer, "advice"));
      System.exit(1);
    }
    String number = member(answer, "applicationPrimaryAccountNumber");
    System.out.println("paid " + member(answer, "amount") + " " + member(answer, "currency") + ", card "
        + number.substring(number.length() - 4) + ", until " + member(answer, "applicationExpirationDate"));
  }

  static String hash(String data) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data.getBytes("UTF-8")));
  }

  /** A member whose value has no quotation mark in it. */
  static String member(String json, String name) {
    var found = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|([^,}]*))").matcher(json);
    if (!found.find()) return "";
    return found.group(1) != null ? found.group(1) : found.group(2);
  }
}
