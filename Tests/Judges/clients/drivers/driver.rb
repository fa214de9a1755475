# frozen_string_literal: true

# Calls the client in Ruby as lines of standard input say, and answers each with a line.
require_relative "../../../../Examples/back-end/tender_client"

$stdout.sync = true
client = TenderClient.from_environment
$stdin.each_line do |line|
  name, arguments = JSON.parse(line).values_at("call", "arguments")
  answer = begin
    if name == "isFromTender"
      { answer: TenderClient.from_tender?(*arguments) }
    else
      { answer: client.public_send(name.gsub(/[A-Z]/) { |letter| "_#{letter.downcase}" }, *arguments) }
    end
  rescue TenderError => e
    { refusal: { status: e.status, code: e.code, said: e.said, field: e.field, errorId: e.error_id, words: e.message } }
  rescue StandardError => e
    { lost: e.inspect }
  end
  puts JSON.generate(answer)
end
