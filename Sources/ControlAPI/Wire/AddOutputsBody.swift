import GatewayModel

/// The body of `POST /v1/rooms/{room}/livestream/outputs`: one output, or `outputs` with several.
struct AddOutputsBody: Decodable {
    let outputs: [OutputBody]

    private enum CodingKeys: String, CodingKey {
        case outputs
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if container.contains(.outputs) {
            outputs = try container.decode([OutputBody].self, forKey: .outputs)
        } else {
            outputs = [try OutputBody(from: decoder)]
        }
    }
}
