# Records which methods a program calls, and from where: `ruby -r ./trace.rb ...` with ROOT and TRACE in the environment.
#
# TRACE gets a line "path<tab>line<tab>name<tab>path<tab>line" for each call of a method in the folder ROOT from a file
# there: the place of the call, the method, and the place of its definition. Lines are appended, so tests may run in
# several processes.

require "set"

root = File.realpath(ENV.fetch("ROOT")) + "/"
seen = Set.new
inside = Hash.new do |known, path|
  real = File.exist?(path) ? File.realpath(path) : path
  known[path] = real.start_with?(root) ? real.delete_prefix(root) : nil
end
trace = TracePoint.new(:call) do |event|
  to = inside[event.path]
  next unless to
  caller_place = caller_locations(2, 1)&.first
  from = caller_place && inside[caller_place.absolute_path || caller_place.path]
  seen << [from, caller_place.lineno, event.callee_id, to, event.lineno].join("\t") if from
end
trace.enable
at_exit do
  at_exit do
    trace.disable
    File.open(ENV.fetch("TRACE"), "a") { |file| seen.each { |line| file.puts(line) } }
  end
end
