import Stage
import TestSupport
import Testing

@testable import Mixer
@testable import MixerProcess

@Suite("Inputs of a mixer")
struct MixerInputTests {
    @Test("the participants being decoded are those of the marked inputs, once each")
    func decodedParticipants() throws {
        let folder = try TemporaryFolder("markers")
        let file = folder.file("mixer.marks")
        let markers = try #require(DecodeMarkers(path: file))
        let inputs = [
            MixerInput(participantSID: "PA1", source: .camera), MixerInput(participantSID: "PA1", source: .screen),
            MixerInput(participantSID: "PA2", source: .screen), MixerInput(participantSID: "PA3", source: .camera),
        ]
        let set = inputs.compactMap { markers.marker(for: $0.id) }
        #expect(set.count == inputs.count)
        for marker in set.dropLast() { marker.begin() }
        #expect(MixerInput.decodedParticipants(markedIn: file) == ["PA1", "PA2"])
    }
}
