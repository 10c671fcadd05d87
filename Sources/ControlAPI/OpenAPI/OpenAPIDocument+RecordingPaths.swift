extension OpenAPIDocument {
    /// The addresses of recordings and of pictures of the program.
    static let recordingsPaths = """
          /v1/rooms/{room}/recording/start:
            post:
              operationId: startRecording
              summary: Begins to record the program.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("202", "It begins with the next key picture.", "RecordingResource"))
          /v1/rooms/{room}/recording/stop:
            post:
              operationId: stopRecording
              summary: Ends the recording.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("202", "What is queued is still written.", "RecordingResource"))
          /v1/rooms/{room}/recording:
            get:
              operationId: readRecording
              summary: Tells how the recording is doing.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "Its state.", "RecordingResource"))
          /v1/rooms/{room}/recordings:
            get:
              operationId: listRecordings
              summary: Lists the recorded files of a room, in progress or not.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "A page of files, the oldest first.", "RecordingList"))
          /v1/recordings/{recording}:
            get:
              operationId: readRecordedFile
              summary: Describes a recorded file.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Recording'
              \(answers("200", "The file.", "RecordedFileResource"))
            delete:
              operationId: deleteRecordedFile
              summary: Deletes a recorded file that is not being written.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Recording'
              \(answers("204", "It is gone."))
          /v1/recordings/{recording}/media.mp4:
            get:
              operationId: downloadRecordedFile
              summary: Gives the file itself, or a range of it.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Recording'
              responses:
                '200':
                  description: Fragmented MP4; of a file that is being written, what there is.
                  content:
                    video/mp4:
                      schema:
                        type: string
                        format: binary
                default:
                  $ref: '#/components/responses/Refusal'
            head:
              operationId: headRecordedFile
              summary: Tells the size of the file.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Recording'
              \(answers("200", "The head alone."))
        \(snapshotPaths(ending: "jpg", name: "JPEG", type: "image/jpeg", isOpen: true))
        \(snapshotPaths(ending: "png", name: "PNG", type: "image/png", isOpen: false))
          /v1/rooms/{room}/mixer/snapshot:
            post:
              operationId: postSnapshot
              summary: Takes a picture of the program.
              description: >-
                For the mixer of the room; the query says which picture of those that were asked for.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/octet-stream:
                    schema:
                      type: string
                      format: binary
              \(answers("204", "It is kept."))
        """

    /// The addresses of a picture of the program in one format.
    private static func snapshotPaths(ending: String, name: String, type: String, isOpen: Bool) -> String {
        let access = isOpen ? "For whoever may play the program; no token is needed." : "For whoever may read the room."
        let security = isOpen ? "security: []" : "security: [{ bearer: [] }]"
        return """
              /v1/rooms/{room}/snapshot.\(ending):
                get:
                  operationId: read\(name)Snapshot
                  summary: Shows the program as a \(name).
                  description: >-
                    \(access) The query may ask for a width.
                    503 while the first one is awaited.
                  \(security)
                  parameters:
                    - $ref: '#/components/parameters/Room'
                  responses:
                    '200':
                      description: A picture of the last seconds.
                      content:
                        \(type):
                          schema:
                            type: string
                            format: binary
                    default:
                      $ref: '#/components/responses/Refusal'
                head:
                  operationId: head\(name)Snapshot
                  summary: Tells about the \(name).
                  description: >-
                    \(access) The query may ask for a width.
                    503 while the first one is awaited.
                  \(security)
                  parameters:
                    - $ref: '#/components/parameters/Room'
                  \(answers("200", "The head alone."))
            """
    }
}
