"""The smoke test and the examples of S2, as a recorded session."""

from tests.gitrepo import Repo
from tests.mcp.compat.recording import Step, replay

LONG = "\n\n".join(
    f"Part {part}. "
    + " ".join(f"Sentence {number} of part {part} is about the Q4 release plan." for number in range(30))
    for part in range(8)
)
ID = "[0-9a-f]"
KEY = "ghp_" + "0123456789abcdefghijABCDEFGHIJklmnop"

SESSION = [
    # Embedding health
    Step(
        "embedding_health", {},
        r'\{"provider":"bundled","model":"[^"]+","dimensions":(?P<size>\d+),"api_key_configured":false,'
        r'"api_status":"healthy","test_embedding_dimensions":(?P=size),"api_latency_ms":[\d.]+\}',
    ),
    # Memory store and search
    Step("memory_store", {"content": "Test memory", "type": "fact", "confidence": 1.0},
         rf"Stored memory \[(?P<memory>mem_{ID}{{12}})\]: Test memory"),
    Step("memory_search", {"query": "test"}, r"\[{memory}\] \(fact, conf=1.0\): Test memory"),
    Step("memory_store", {"content": "User prefers dark mode. " * 10, "type": "preference", "confidence": 0.9},
         rf"Stored memory \[(?P<other>mem_{ID}{{12}})\]: User prefers dark mode. .*\.\.\."),
    Step("memory_search", {"query": "test", "min_confidence": 0.95}, r"\[{memory}\] \(fact, conf=1.0\): Test memory"),
    Step("memory_list", {"type": "fact"}, r"Found 1 memories:\n\[{memory}\] \(fact, conf=1.0\): Test memory"),
    Step("memory_delete", {"memory_id": "{memory}"}, "Deleted memory: {memory}"),
    Step("memory_delete", {"memory_id": "{memory}"}, "Memory {memory} not found", failed=True),
    Step("memory_delete", {"memory_id": "art_1"}, "Invalid memory_id: must start with 'mem_'", failed=True),
    # History
    Step("history_append", {"conversation_id": "conv123", "role": "user", "content": "How do I implement auth?",
                            "turn_index": 0}, "Appended turn 0 to conv123"),
    Step("history_append", {"conversation_id": "conv123", "role": "assistant", "content": "Here's a secure approach...",
                            "turn_index": 1}, "Appended turn 1 to conv123"),
    Step("history_get", {"conversation_id": "conv123"},
         r"user: How do I implement auth\?\nassistant: Here's a secure approach\.\.\."),
    Step("history_get", {"conversation_id": "conv123", "limit": 1}, r"assistant: Here's a secure approach\.\.\."),
    Step("history_get", {"conversation_id": "conv"}, ""),
    # Artifact ingestion, small and large
    Step(
        "artifact_ingest",
        {"artifact_type": "email", "source_system": "gmail", "source_id": "abc123", "title": "Contract",
         "content": "The payment terms are net-30 days from invoice.", "sensitivity": "sensitive"},
        rf'\{{"artifact_id":"(?P<mail>art_{ID}{{8}})","is_chunked":false,"num_chunks":0,"stored_ids":\["(?P=mail)"\]\}}',
    ),
    Step(
        "artifact_ingest",
        {"artifact_type": "doc", "source_system": "drive", "source_id": "1a2b3c4d", "title": "Q4 Release Plan",
         "content": LONG, "source_url": "https://drive.example.com/xyz", "ts": "2025-12-25T10:30:00Z"},
        rf'\{{"artifact_id":"(?P<plan>art_{ID}{{8}})","is_chunked":true,"num_chunks":(?P<chunks>\d+),'
        rf'"stored_ids":\["(?P=plan)","(?P<first>(?P=plan)::chunk::000::{ID}{{8}})",.*\]\}}',
    ),
    Step("artifact_ingest",
         {"artifact_type": "doc", "source_system": "drive", "source_id": "1a2b3c4d", "content": LONG},
         r'\{"artifact_id":"{plan}","is_chunked":true,"num_chunks":{chunks},.*\}'),
    # Search
    Step(
        "artifact_search", {"query": "payment terms", "artifact_type": "email", "limit": 1},
        r"Found 1 results:\n\n\[1\] artifact: {mail} \(score: \d\.\d\d\)\nTitle: Contract\n"
        r"Type: email \| Source: gmail\n"
        r'Snippet: "The payment terms are net-30 days from invoice\."\nEvidence: abc123',
    ),
    Step("artifact_search", {"query": "payment terms", "sensitivity": "highly_sensitive"}, "Found 0 results:"),
    Step("artifact_search", {"query": "release plan", "time_range_end": "2025-12-24"}, r"(?!.*{plan}).*"),
    Step(
        "artifact_search", {"query": "Sentence 20 of part 5", "limit": 1, "expand_neighbors": True},
        r"Found 1 results:\n\n\[1\] chunk: {plan}::chunk::\d{3} \(score: .*Content with neighbors:\n"
        r".*\[CHUNK BOUNDARY\].*Evidence: https://drive\.example\.com/xyz",
    ),
    Step(
        "hybrid_search", {"query": "which mode does the user prefer", "include_memory": True},
        r"Found \d results \(searched: artifacts, artifact_chunks, memory\):\n\n"
        r"\[1\] RRF score: 0\.0164 \(from: memory\)\n"
        r"Type: memory \| ID: {other}\nContent: User prefers dark mode\..*\nConfidence: 0\.9.*",
    ),
    Step(
        "hybrid_search", {"query": "net-30 payment", "filters": {"artifact_type": "email"}},
        r"Found 1 results \(searched: artifacts, artifact_chunks\):\n\n\[1\] RRF score: 0\.0164 \(from: artifacts\)\n"
        r'Type: artifact \| ID: {mail}\nTitle: Contract\nSource: gmail \| Sensitivity: sensitive\nSnippet: ".*"\n'
        r"Evidence: abc123",
    ),
    # Reading
    Step(
        "artifact_get", {"artifact_id": "{mail}", "include_content": True},
        r'\{"artifact_id":"{mail}","metadata":\{"artifact_type":"email","source_system":"gmail","source_id":"abc123",.*'
        r'"content_hash":"[0-9a-f]{64}","token_count":\d+,"is_chunked":false,.*"embedding_provider":"bundled",.*"embedding_dimensions":{size}\},'
        r'"content":"The payment terms are net-30 days from invoice\."\}',
    ),
    Step("artifact_get", {"artifact_id": "{plan}", "include_chunks": True},
         r'\{.*"ts":"2025-12-25T10:30:00Z".*"chunks":\[\{"chunk_id":"{first}","chunk_index":0,"start_char":0,"end_char":\d+,'
         r'"token_count":\d+\}.*'),
    Step("artifact_get", {"artifact_id": "art_00000000"}, "Artifact art_00000000 not found", failed=True),
    Step("artifact_get", {"artifact_id": "xyz"}, "Invalid artifact_id: must start with 'art_'", failed=True),
    Step("artifact_delete", {"artifact_id": "{plan}"}, "Deleted artifact {plan} and {chunks} chunks"),
    Step("artifact_delete", {"artifact_id": "{mail}"}, "Deleted artifact {mail} and 0 chunks"),
    Step("artifact_delete", {"artifact_id": "{mail}"}, "Artifact {mail} not found", failed=True),
    # Errors in the old words
    Step("artifact_search", {"query": "x" * 501}, "Query exceeds maximum length of 500 characters", failed=True),
    Step("artifact_search", {"query": "x", "limit": 51}, "Limit must be between 1 and 50", failed=True),
    Step("artifact_ingest", {"artifact_type": "pdf", "source_system": "x", "content": "x"},
         "Invalid artifact_type: pdf. Must be one of: email, doc, chat, transcript, note", failed=True),
    Step("artifact_ingest", {"artifact_type": "doc", "content": "x"},
         "Missing required field: source_system", failed=True),
    Step("artifact_ingest", {"artifact_type": "doc", "source_system": "x", "content": "x", "source_url": "no url"},
         "Invalid source_url: no url. Must be a valid URL", failed=True),
    Step("hybrid_search", {"query": "x", "filters": {"artifact_type": "pdf"}}, "Invalid filter: .*", failed=True),
    Step("hybrid_search", {"query": "x", "filters": {"other": "x"}},
         "Invalid filter: unknown argument `other`", failed=True),
    Step("hybrid_search", {"query": "x", "filters": "x"}, "Invalid filter: .*", failed=True),
    Step("hybrid_search", {"query": "x", "other": "x"}, "Unexpected argument: other", failed=True),
    Step("memory_store", {"content": f"the key is {KEY}", "type": "fact", "confidence": 1},
         "Failed to store memory: .*", failed=True),
    Step("memory_list", {}, r"Found 1 memories:\n\[{other}\] .*"),
]  # fmt: skip


def test_the_smoke_test_of_s2_passes(own: Repo) -> None:
    replay(own.path, "compat-s2", SESSION)
