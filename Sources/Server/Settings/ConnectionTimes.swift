/// How long a caller may take, in seconds.
package struct ConnectionTimes: Sendable {
  /// From the connection's beginning, with its TLS handshake, to the end of the first request's headers.
  package var headerSeconds = 10
  /// From the end of a request's headers to the end of its body.
  package var bodySeconds = 20
  /// From a response to the end of the next request's headers. Longer than the minute for which proxies keep an idle
  /// connection, so that the proxy closes it and not the server while a request is on its way.
  package var idleSeconds = 75
  /// How long a response may be left unread.
  package var unreadSeconds = 30

  package init() {}
}
