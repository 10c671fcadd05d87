extension OpenAPIDocument {
    /// The addresses of rooms.
    static let roomsPaths = """
          /v1/rooms:
            post:
              operationId: createRoom
              summary: Makes a room.
              description: For operators.
              \(body("CreateRoomBody"))
              \(answers("201", "The room.", "RoomResource"))
            get:
              operationId: listRooms
              summary: Lists rooms by date of creation.
              description: For operators and monitors.
              parameters:
                - $ref: '#/components/parameters/RoomStatus'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              \(answers("200", "A page of rooms.", "RoomList"))
          /v1/rooms/{room}:
            get:
              operationId: readRoom
              summary: Reads a room.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The room.", "RoomResource"))
            post:
              operationId: endRoom
              summary: Ends a room; everybody in it is told with 53118.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("UpdateRoomBody"))
              \(answers("200", "The room as it ended.", "RoomResource"))
          /v1/rooms/{room}/go_live:
            post:
              operationId: goLive
              summary: Lets the audience see the program of a room that was made backstage.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The room.", "RoomResource"))
          /v1/rooms/{room}/stop_live:
            post:
              operationId: stopLive
              summary: Withholds the program from the audience again.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The room.", "RoomResource"))
          /v1/rooms/{room}/layout:
            get:
              operationId: readLayout
              summary: Tells what is on air.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The arrangement and its tiles.", "LayoutResource"))
            put:
              operationId: changeLayout
              summary: Changes the arrangement at once.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("LayoutBody"))
              \(answers("200", "The arrangement and its tiles.", "LayoutResource"))
          /v1/rooms/{room}/layout/preview:
            post:
              operationId: previewLayout
              summary: Tells which tiles an arrangement would give for some hosts, without touching the air.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("LayoutPreviewBody"))
              \(answers("200", "The arrangement and its tiles.", "LayoutResource"))
          /v1/rooms/{room}/mixer/report:
            post:
              operationId: reportMix
              summary: Tells how loud each host is, and whose media can be decoded.
              description: For the room's mixer.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("MixerReportBody"))
              \(answers("204", "Taken."))
          /v1/rooms/{room}/mixer/asset:
            get:
              operationId: fetchAsset
              summary: Fetches a picture or sound that the room names by an address on the web.
              description: >-
                For the room's mixer, which reaches nothing but the gateway. Refused for addresses that the room does
                not name, and 400 for what the gateway may not ask or the other side does not give.
              parameters:
                - $ref: '#/components/parameters/Room'
                - name: url
                  in: query
                  required: true
                  schema:
                    type: string
                - name: kind
                  in: query
                  schema:
                    type: string
                    enum: [image, sound]
                    default: image
              responses:
                '200':
                  description: The file as it is there.
                  content:
                    application/octet-stream:
                      schema:
                        type: string
                        format: binary
                default:
                  $ref: '#/components/responses/Refusal'
        """
}
