import GatewayModel
import Stage

extension PinResource {
    init(_ pin: Pin) {
        self.init(isLocal: pin.isLocal, pinType: pin.type.rawValue, pinnedAt: Timestamp(pin.pinnedAt))
    }
}
