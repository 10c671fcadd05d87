import Foundation
import GatewayModel
import Testing

@Suite("Faults in JSON")
struct WireFaultTests {
    private func fault(_ text: String) -> WireFault? {
        #expect(throws: WireFault.self) {
            _ = try WireJSON.decode(StartLivestreamBody.self, from: Data(text.utf8))
        }
    }

    @Test("A fault names the field and what it must be")
    func named() {
        #expect(fault(#"{}"#)?.sentence == "outputs is missing")
        #expect(fault(#"{"outputs":5}"#)?.sentence == "outputs must be a list")
        #expect(fault(#"{"outputs":[{"url":7,"stream_key":"k"}]}"#)?.sentence == "outputs[0].url must be text")
        #expect(fault(#"{"outputs":[{"url":"u"}]}"#)?.sentence == "outputs[0].stream_key is missing")
        #expect(fault(#"{"outputs":[],"width":"wide"}"#)?.sentence == "width must be a whole number")
        #expect(fault(#"{"outputs":null}"#)?.field == "outputs")
    }

    @Test("What is no JSON at all is said to be so", arguments: ["", "{", "nonsense", "\u{0}", "[1,"])
    func noJSON(text: String) {
        #expect(fault(text)?.sentence == "the body is not JSON")
    }

    @Test("A document of another kind is said to be so")
    func wrongKind() {
        #expect(fault("[]")?.field == "")
    }
}
