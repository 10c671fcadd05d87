// What can be wrong with a file that is put into a room.

extension StageError {
    /// 404, no file of that name; the code is the HTTP status, as no source system has one for it.
    public static let assetNotFound = StageError(
        code: 404,
        name: "AssetNotFoundError",
        message: "There is no such asset",
        cause: "The room has no asset of this name",
        solution: "List the room's assets",
        status: 404
    )
    /// 53004 with status 415: not one of the formats, whatever the request calls it.
    public static let assetFormatUnknown = StageError(
        code: 53004,
        name: "SignalingIncomingMessageInvalidError",
        message: "The file is of no format that is taken",
        cause: "Its first bytes are not those of png, jpeg, webp, gif, bmp, mp3, aac, wav, ogg or flac",
        solution: "Convert the file to one of these formats",
        status: 415
    )

    /// 53004 with status 413: more than is taken of its kind.
    public static func assetTooLarge(_ limit: Int) -> StageError {
        StageError(
            code: 53004,
            name: "SignalingIncomingMessageInvalidError",
            message: "The file is too large, \(limit / 1_048_576) MiB is the most",
            cause: "Images are limited to 5 MiB and sounds to 20 MiB",
            solution: "Send a smaller file",
            status: 413
        )
    }

    /// 53004 with status 413: an image of more pixels than are drawn.
    public static func imageTooLarge(width: Int, height: Int) -> StageError {
        StageError(
            code: 53004,
            name: "SignalingIncomingMessageInvalidError",
            message: "The image has \(width)x\(height) pixels, \(Asset.longestSide) on each side is the most",
            cause: "An image with a longer side is not drawn",
            solution: "Make the image smaller",
            status: 413
        )
    }

    /// 3073 with status 409: one file more than a room can have.
    public static func tooManyAssets(_ limit: Int) -> StageError {
        StageError(
            code: 3073,
            name: "INVALID_PARAMETER",
            message: "A room has at most \(limit) assets",
            cause: "The room has as many assets as it can have",
            solution: "Remove an asset first",
            status: 409
        )
    }
}
