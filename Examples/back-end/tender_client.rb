# frozen_string_literal: true

# What a merchant's server asks Tender, with Ruby 3 alone. docs/back-end.md explains each step.

require "digest"
require "erb"
require "json"
require "net/http"
require "openssl"
require "securerandom"
require "time"
require "uri"

# Tender refused the call: status, code, message and field as it says them, its id in the log, and the whole answer.
class TenderError < StandardError
  attr_reader :status, :code, :said, :field, :error_id, :answer

  def initialize(status, text)
    @answer = begin
      JSON.parse(text)
    rescue JSON::ParserError # from a proxy
      text
    end
    whole = @answer.is_a?(Hash) ? @answer : {}
    error = whole.fetch("errors", []).last || {} # the last has Tender's own words
    @status, @code, @said, @field = status, error.fetch("id", ""), error.fetch("message", text), error["propertyName"]
    @error_id = whole["errorId"]
    super("#{status} #{@code}: #{@said}#{" (#{@field})" if @field} [#{@error_id}]")
  end
end

class TenderClient
  ATTEMPTS = 3
  LONGEST_WAIT = 5.0
  LOST = [SystemCallError, SocketError, IOError, Timeout::Error, Net::HTTPBadResponse, OpenSSL::SSL::SSLError].freeze
  CALLS = { "GET" => Net::HTTP::Get, "PUT" => Net::HTTP::Put, "POST" => Net::HTTP::Post, "DELETE" => Net::HTTP::Delete }.freeze

  def self.from_environment
    new(*%w[SHOP_TENDER_URL SHOP_MERCHANT SHOP_KEY_ID SHOP_SECRET].map do |name|
      ENV.fetch(name, "").then { |value| value.empty? ? raise("set the environment variable #{name}") : value }
    end)
  end

  # Whether the signature, the header X-GCS-Signature, is the one of the body's bytes.
  def self.from_tender?(signature, body, webhook_secret)
    # Everybody can sign with an empty secret.
    !webhook_secret.empty? && OpenSSL.secure_compare(signature, mac(webhook_secret, body))
  end

  def self.mac(secret, data) = [OpenSSL::HMAC.digest("SHA256", secret, data)].pack("m0")

  def initialize(server, merchant, key_id, secret)
    @server, @merchant, @key_id, @secret = URI(server.delete_suffix("/")), merchant, key_id, secret
  end

  def put_basket(id, basket) = call("PUT", place("baskets", id), basket)
  def basket(id) = call("GET", place("baskets", id))
  def cancel_basket(id) = call("DELETE", place("baskets", id))
  def order(id) = basket(id)["order"]
  def pay(payment, key = nil) = call("POST", place("payments"), payment, key)
  def payment(id) = call("GET", place("payments", id))
  def payments(parameters = {}) = call("GET", place("payments") + query(parameters))
  def capture(id, document, key = nil) = call("POST", place("payments", id, "capture"), document, key)
  def cancel(id, document, key = nil) = call("POST", place("payments", id, "cancel"), document, key)
  def refund(id, document, key = nil) = call("POST", place("payments", id, "refund"), document, key)
  def events(parameters = {}) = call("GET", place("events") + query(parameters))
  def event(id) = call("GET", place("events", id))

  # Repeats the call where no answer comes, or Tender asks for it, under the same idempotency key.
  def call(method, path, document = nil, key = nil)
    body = document && JSON.generate(document)
    key ||= SecureRandom.uuid if method == "POST"
    (1..ATTEMPTS).each do |attempt|
      answer = send_signed(method, path, body, key)
      text = answer.body.to_s.dup.force_encoding("UTF-8")
      return (JSON.parse(text) unless text.empty?) if answer.is_a?(Net::HTTPSuccess) # 204 has no body

      later = answer["Retry-After"]
      raise TenderError.new(answer.code.to_i, text) if later.nil? || attempt == ATTEMPTS

      sleep(later.match?(/\A[0-9]{1,9}\z/) ? [later.to_f, LONGEST_WAIT].min : attempt / 2.0) # a proxy may name a date
    rescue *LOST
      raise if attempt == ATTEMPTS

      sleep(attempt / 2.0)
    end
  end

  # The headers of a call. `body` is its text, `key` the idempotency key.
  def signed(method, path, body = nil, key = nil, date = Time.now.httpdate)
    headers, covered = { "Date" => date }, []
    if body
      digest = Digest::SHA256.base64digest(body)
      headers.update("Content-Type" => "application/json", "X-GCS-Content-SHA256" => digest)
      covered << "x-gcs-content-sha256:#{digest}"
    end
    if key
      headers["X-GCS-Idempotence-Key"] = key
      covered << "x-gcs-idempotence-key:#{key}"
    end
    text = [method, headers.fetch("Content-Type", ""), date, *covered, path, ""].join("\n")
    headers.merge("Authorization" => "GCS v1HMAC:#{@key_id}:#{self.class.mac(@secret, text)}")
  end

  private

  def send_signed(method, path, body, key)
    request = CALLS.fetch(method).new(path, signed(method, path, body, key).merge("Accept-Encoding" => "identity"))
    request.body = body
    options = { use_ssl: @server.scheme == "https", open_timeout: 10, read_timeout: 30, max_retries: 0 }
    answer = Net::HTTP.start(@server.host, @server.port, **options) { |http| http.request(request) }
    # Ruby takes an answer for whole whose connection has ended.
    raise EOFError, "the answer was cut" unless [nil, answer.body.to_s.bytesize].include?(answer.content_length)

    answer
  end

  def place(*names) = ["", "v2", @merchant, *names.map { |name| ERB::Util.url_encode(name) }].join("/")

  def query(parameters) = parameters.empty? ? "" : "?#{URI.encode_www_form(parameters)}"
end
