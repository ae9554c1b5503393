# frozen_string_literal: true

require "net/smtp"

module Post
  # Sends letters.
  class Mailer
    DEFAULT_PORT = 25

    attr_reader :host

    def initialize(host, port = DEFAULT_PORT)
      @host = host
      @port = port
    end

    # Delivers one letter.
    def deliver(letter)
      connection.send_message(letter.body, letter.from, letter.to)
    end

    def self.local
      new("localhost")
    end

    class << self
      def null
        new(nil)
      end
    end

    private def connection
      Net::SMTP.start(host, @port)
    end
  end

  Letter = Struct.new(:from, :to, :body) do
    def short?
      body.size < 80
    end
  end
end

def deliver_all(letters)
  letters.each { |letter| Post::Mailer.local.deliver(letter) }
end
