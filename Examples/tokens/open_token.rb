# ruby open_token.rb SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]
require "base64"
require "digest"
require "json"
require "socket"

path, file, amount, currency, data, at = ARGV
call = {
  call: "decrypt", spend: true,
  # The body of the request, unchanged.
  token: Base64.strict_encode64(File.binread(file)),
  confirm: { amount: Integer(amount), currency: currency,
             applicationDataHash: data.to_s.empty? ? nil : Digest::SHA256.hexdigest(data) }
}
call[:at] = at if at # Only for a token of a test: without it the token must have arrived now.

answer = UNIXSocket.open(path) do |connection|
  connection.write(JSON.generate(call) + "\n")
  JSON.parse(connection.gets)
end
unless answer["verified"]
  puts "refused: #{answer["code"]}: #{answer["advice"]}"
  exit 1
end
card = answer["paymentData"]
puts "paid #{answer["amount"]} #{answer["currency"]}, card #{card["applicationPrimaryAccountNumber"][-4..]}, " \
     "until #{card["applicationExpirationDate"]}"
