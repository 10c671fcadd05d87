import Stage
import Testing

@Suite("Participant modes")
struct ParticipantModeTests {
    @Test("V1 the three names, the two old ones read but never written, and nothing else")
    func names() {
        #expect(ParticipantMode.allCases.map(\.rawValue) == ["SEND_AND_RECV", "RECV_ONLY", "SIGNALLING_ONLY"])
        #expect(ParticipantMode(wireName: "CONFERENCE") == .sendAndReceive)
        #expect(ParticipantMode(wireName: "VIEWER") == .signallingOnly)
        for mode in ParticipantMode.allCases {
            #expect(ParticipantMode(wireName: mode.rawValue) == mode)
        }
        #expect(ParticipantMode(wireName: "send_and_recv") == nil)
        #expect(ParticipantMode(wireName: "") == nil)
    }
}
