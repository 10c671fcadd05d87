extension OpenAPIDocument {
    /// The addresses of rooms.
    static let roomsPaths = """
          /v1/rooms:
            post:
              operationId: createRoom
              summary: Makes a room.
              description: For operators.
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/CreateRoomBody'
              responses:
                '201':
                  description: The room.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomResource'
                default:
                  $ref: '#/components/responses/Refusal'
            get:
              operationId: listRooms
              summary: Lists rooms by date of creation.
              description: For operators and monitors.
              parameters:
                - $ref: '#/components/parameters/RoomStatus'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              responses:
                '200':
                  description: A page of rooms.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomList'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}:
            get:
              operationId: readRoom
              summary: Reads a room.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The room.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomResource'
                default:
                  $ref: '#/components/responses/Refusal'
            post:
              operationId: endRoom
              summary: Ends a room; everybody in it is told with 53118.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/UpdateRoomBody'
              responses:
                '200':
                  description: The room as it ended.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/go_live:
            post:
              operationId: goLive
              summary: Lets the audience see the program of a room that was made backstage.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The room.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/stop_live:
            post:
              operationId: stopLive
              summary: Withholds the program from the audience again.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The room.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/RoomResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/layout:
            get:
              operationId: readLayout
              summary: Tells what is on air.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The arrangement and its tiles.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LayoutResource'
                default:
                  $ref: '#/components/responses/Refusal'
            put:
              operationId: changeLayout
              summary: Changes the arrangement at once.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/LayoutBody'
              responses:
                '200':
                  description: The arrangement and its tiles.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LayoutResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/layout/preview:
            post:
              operationId: previewLayout
              summary: Tells which tiles an arrangement would give for some hosts, without touching the air.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/LayoutPreviewBody'
              responses:
                '200':
                  description: The arrangement and its tiles.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LayoutResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/mixer/report:
            post:
              operationId: reportMix
              summary: Tells how loud each host is, and whose media can be decoded.
              description: For the room's mixer.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/MixerReportBody'
              responses:
                '204':
                  description: Taken.
                default:
                  $ref: '#/components/responses/Refusal'
        """
}
