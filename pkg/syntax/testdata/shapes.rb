require 'set'

LIMIT = 10

# Shapes.
module Geo
  class Shape < Base
    SIDES = 3
    attr_reader :name

    def initialize(name)
      @name = name
    end

    def self.build(*args)
      new(*args)
    end

    def valid?; true; end

    class << self
      def helper; end
    end
  end

  class Deep::Circle
    def ==(other) = true
  end
end

def top_level
end
