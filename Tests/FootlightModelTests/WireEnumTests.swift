import Foundation
import FootlightModel
import FootlightTesting
import Stage
import Testing

@Suite("Enumerations on the wire")
struct WireEnumTests {
    private struct Sample: Codable, Hashable {
        var mode: WireEnum<ParticipantMode>
        var kind: WireEnum<TrackKind>?
    }

    private func sample(_ text: String) throws(WireDecodingError) -> Sample {
        try WireJSON.decode(Sample.self, from: Data(text.utf8))
    }

    private func fault(_ text: String) -> WireDecodingError? {
        #expect(throws: WireDecodingError.self) { _ = try sample(text) }
    }

    @Test("a known value is decoded to its case")
    func known() throws {
        let value = try sample(#"{"kind":"video","mode":"RECV_ONLY"}"#)
        #expect(value == Sample(mode: .known(.receiveOnly), kind: .known(.video)))
        #expect(value.mode == .receiveOnly && value.mode != .sendAndReceive && value.kind == .video)
    }

    @Test("an unknown value is not an error, equals no case and is encoded unchanged")
    func unknown() throws {
        let text = #"{"kind":"smell","mode":"HOLOGRAM"}"#
        let value = try sample(text)
        #expect(value == Sample(mode: .unknown("HOLOGRAM"), kind: .unknown("smell")))
        #expect(value.mode.value == nil && value.mode.rawValue == "HOLOGRAM" && "\(value.mode)" == "HOLOGRAM")
        #expect(ParticipantMode.allCases.allSatisfy { value.mode != $0 })
        #expect(String(decoding: try WireJSON.encode(value), as: UTF8.self) == text)
    }

    @Test("a field that may be null prints as its value")
    func explicitNull() {
        #expect("\(ExplicitNull(wrappedValue: 3))" == "3" && "\(ExplicitNull<Int>(wrappedValue: nil))" == "nil")
        #expect(String(reflecting: ExplicitNull(wrappedValue: "a")) == "\"a\"")
    }

    @Test("an absent value equals no case")
    func absent() throws {
        let value = try sample(#"{"kind":null,"mode":"RECV_ONLY"}"#)
        #expect(value.kind == nil && value.kind != .audio)
    }

    @Test("a fault names the field and says what a text's would")
    func faults() {
        #expect(fault(#"{"mode":7}"#)?.sentence == "mode must be text")
        #expect(fault(#"{"mode":null}"#)?.sentence == "mode must be text, not null")
        #expect(fault("{}")?.sentence == "mode is missing")
        #expect(fault(#"{"mode":"RECV_ONLY","kind":[]}"#)?.sentence == "kind must be text")
    }

    @Test("a dictionary by values is a JSON object, with unknown keys too")
    func dictionary() throws {
        let text = #"{"hls":2,"quic":1}"#
        let counts = try WireJSON.decode([WireEnum<PlaybackProtocol>: Int].self, from: Data(text.utf8))
        #expect(counts == [.known(.hls): 2, .unknown("quic"): 1] && counts["hls"] == 2)
        #expect(String(decoding: try WireJSON.encode(counts), as: UTF8.self) == text)
    }
}
