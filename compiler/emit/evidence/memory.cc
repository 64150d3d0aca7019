// Memory and the accesses to it; see parts.h.
#include "compiler/schedule/memory.h"

#include <algorithm>
#include <string>

#include "compiler/base/observation.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/evidence/json_stream.h"
#include "compiler/emit/evidence/parts.h"
#include "compiler/program/arena.h"
#include "compiler/program/state.h"
#include "compiler/stage/access_log.h"
#include "compiler/stage/audit.h"

namespace etch {

namespace {

std::string_view access_name(Access access) {
  if (access == Access::kRead) return "read";
  return access == Access::kWrite ? "write" : "read_write";
}

void add_port(JsonStream& json, const Port& port) {
  json.member("identifier", port.identifier);
  json.member("name", printable(port.name));
  json.member("dtype", name_of(port.dtype));
  json.list("shape", port.shape);
}

void add_ports(JsonStream& json, std::string_view key, const std::vector<Port>& ports) {
  json.array(key, [&] {
    for (const Port& port : ports) json.object({}, [&] { add_port(json, port); });
  });
}

void add_buffer(JsonStream& json, const Buffer& buffer) {
  json.member("label", printable(buffer.label));
  json.member("home", name_of(buffer.home));
  json.member(buffer.home == Home::kArena ? "offset" : "port",
              buffer.home == Home::kArena ? buffer.arena_offset : buffer.port);
  json.member("bytes", buffer.bytes);
  json.list("steps", std::vector<std::int64_t>{buffer.first_step, buffer.last_step});
}

// Bytes below the stack pointer that are known without a compiler: those of functions in assembly.
std::int64_t assembly_stack(const Program& program) {
  int most = 0;
  for (const auto& step : program.steps) {
    for (const AssemblyFunction& function : step->assembly) most = std::max(most, function.stack);
  }
  return most;
}

void add_accesses(JsonStream& json, const Program& program, const Step& step) {
  AccessLog log;
  {
    const Observation<AccessLog> listening(log);
    audit(step, program.isa, extents_of(program, step));
  }
  json.array("accesses", [&] {
    for (const AccessRecord& record : log.records()) {
      json.object({}, [&] {
        json.member("by", record.verb);
        json.member("memory", record.memory);
        json.flag("writes", record.writes);
        json.list("bytes", std::vector<std::int64_t>{record.first, record.last + record.bytes});
        json.list("walk",
                  std::vector<std::int64_t>{record.first, record.last, record.step, record.bytes});
        json.list("loops", record.loops);
      });
    }
  });
}

void add_operands(JsonStream& json, const Step& step) {
  json.array("operands", [&] {
    for (const Operand& operand : step.operands) {
      json.object({}, [&] {
        json.member("name", operand.name);
        json.member("buffer", operand.buffer);
        json.member("offset", operand.offset);
        json.member("element", name_of(operand.element));
        json.member("access", access_name(operand.access));
      });
    }
  });
  std::vector<std::int64_t> sizes;
  for (const ConstantArray& constant : step.constants)
    sizes.push_back(static_cast<std::int64_t>(constant.bytes.size()));
  json.list("constants", sizes);
}

// What reset() copies into the state; all else of it is zeros.
void add_initial_states(JsonStream& json, const Program& program) {
  const std::int64_t alignment = constant_alignment(program);
  json.array("initial_states", [&] {
    for (const StatePort& port : state_of(program).ports) {
      const Port& input = program.inputs[static_cast<std::size_t>(port.input)];
      if (input.initial == nullptr) continue;
      const ConstantArray array = initial_array(input);
      json.object({}, [&] {
        json.member("input", input.identifier);
        json.list("state_bytes", std::vector<std::int64_t>{port.offset, port.offset + port.bytes});
        json.member("bytes", static_cast<std::int64_t>(array.bytes.size()));
        json.member("flash", flash_bytes(array, alignment));
        json.member("sha256", sha256_hex({reinterpret_cast<const char*>(array.bytes.data()),
                                          array.bytes.size()}));
      });
    }
  });
}

}  // namespace

std::string memory_part(const EvidenceContext& context) {
  const Program& program = context.program;
  JsonStream json;
  json.object("arena", [&] {
    json.member("bytes", program.arena_bytes);
    json.member("slack", kArenaSlack);
    json.member("alignment", arena_alignment(program));
    json.member("most_live", program.most_live_bytes);
  });
  json.member("state", state_of(program).bytes());
  add_initial_states(json, program);
  json.member("flash", constant_bytes(program));
  json.object("stack", [&] {
    json.member("assembly", assembly_stack(program));
    json.member("rest", "depends on the compiler: etch check measures it");
  });
  add_ports(json, "inputs", program.inputs);
  add_ports(json, "outputs", program.outputs);
  json.array("buffers", [&] {
    for (const Buffer& buffer : program.buffers) json.object({}, [&] { add_buffer(json, buffer); });
  });
  json.array("overlaps", [&] {
    for (const OverlapRule& rule : overlap_rules(program)) {
      json.object({}, [&] {
        json.member("output", rule.output);
        json.member("input", rule.input);
        json.member("distance", rule.distance);
        json.flag("backwards", rule.backwards);
      });
    }
  });
  return json.finish();
}

std::string accesses_part(const EvidenceContext& context) {
  JsonStream json;
  json.array("steps", [&] {
    for (const auto& step : context.program.steps) {
      json.object({}, [&] {
        json.member("step", step->name);
        add_operands(json, *step);
        add_accesses(json, context.program, *step);
      });
    }
  });
  return json.finish();
}

}  // namespace etch
