import Mixer
import Stage

/// A mixer input: a host's camera and microphone, or a host's screen.
package struct MixerInput: Hashable, Sendable {
    let participantSID: String
    let source: PublishSource

    private static let screenSuffix = ".screen"

    /// The input's id in the mixer.
    var id: String { source == .screen ? participantSID + Self.screenSuffix : participantSID }

    /// Returns the participants whose media a mixer is decoding, or was at its exit.
    ///
    /// - Parameter file: The file of the mixer's decode markers.
    package static func decodedParticipants(markedIn file: String) -> Set<String> {
        Set(
            DecodeMarkers.markedNames(in: file).map { id in
                id.hasSuffix(screenSuffix) ? String(id.dropLast(screenSuffix.count)) : id
            }
        )
    }
}
