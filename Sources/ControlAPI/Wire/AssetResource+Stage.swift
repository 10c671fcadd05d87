import GatewayModel
import Stage

extension AssetResource {
    init(_ asset: Asset) {
        self.init(
            name: asset.name,
            kind: asset.kind.rawValue,
            contentType: asset.contentType,
            size: asset.size,
            version: asset.version,
            dateStored: Timestamp(asset.storedAt)
        )
    }
}
