extension OpenAPIDocument {
    /// The words of layout.
    static let layoutSchemas = """
            LayoutBody:
              description: 'The body of PUT /v1/rooms/{room}/layout; what is left out stays as it is.'
              type: object
              properties:
                type:
                  type: string
                  enum: [GRID, SPOTLIGHT, SIDEBAR]
                  description: 'GRID, SPOTLIGHT or SIDEBAR.'
                priority:
                  type: string
                  enum: [SPEAKER, PIN]
                  description: 'Who comes first: SPEAKER or PIN. In GRID with SPEAKER a pin moves nobody who is shown.'
                grid_size:
                  type: integer
                  minimum: 1
                  maximum: 12
                  description: 'Tiles at the same time, 1 to 12.'
                rotate_every:
                  type: integer
                  description: >-
                    Seconds after which hosts without a tile take turns with those who have one, 3 to 300. 0, as it is from
                    the beginning, shows them only when they speak, are pinned or share a screen.
                orientation:
                  type: string
                  enum: [landscape, portrait]
                  description: 'landscape or portrait.'
                theme:
                  type: string
                  enum: [DARK, LIGHT, DEFAULT]
                  description: 'DARK, LIGHT or DEFAULT, which is DARK.'
                scale_mode:
                  type: string
                  enum: [fill, fit]
                  description: 'How cameras fill their tiles: fill or fit.'
                auto_switch_on_screen_share:
                  type: boolean
                  description: 'A screen share takes the large place by itself.'
                overlays:
                  $ref: '#/components/schemas/OverlaysBody'
                  description: 'What is written on the tiles.'
                transition_ms:
                  type: [integer, "null"]
                  minimum: 0
                  maximum: 2000
                  description: 'Milliseconds in which tiles move, come and go, 0 to 2000; null is 300 again.'
                background:
                  anyOf:
                    - $ref: '#/components/schemas/BackgroundResource'
                    - type: "null"
                  description: 'What lies behind the tiles; null is the theme''s colour again.'
                logo:
                  anyOf:
                    - $ref: '#/components/schemas/LogoResource'
                    - type: "null"
                  description: 'A picture over a corner of the canvas; null takes it away.'
                lower_third:
                  anyOf:
                    - $ref: '#/components/schemas/LowerThirdResource'
                    - type: "null"
                  description: 'Two lines over the lower part of the canvas; null takes them away.'
                ticker:
                  anyOf:
                    - $ref: '#/components/schemas/TickerResource'
                    - type: "null"
                  description: 'Text that runs along the lower edge of the canvas; null takes it away.'
                slates:
                  anyOf:
                    - $ref: '#/components/schemas/SlatesBody'
                    - type: "null"
                  description: 'What the program is while it shows nobody; null is the plain slates again.'
            LayoutPreviewBody:
              description: >-
                The body of POST /v1/rooms/{room}/layout/preview: an arrangement, and the hosts it
                is to be tried with.
              type: object
              properties:
                layout:
                  $ref: '#/components/schemas/LayoutBody'
                  description: 'What is left out is as the room has it.'
                hosts:
                  type: array
                  items:
                    $ref: '#/components/schemas/PreviewHost'
                  description: 'In join order; the hosts of the room when left out.'
            LayoutResource:
              description: 'What is on air: how the tiles are arranged, and the tiles.'
              type: object
              allOf:
                - $ref: '#/components/schemas/LayoutSettingsResource'
              required:
                - width
                - height
                - tiles
              properties:
                width:
                  type: integer
                  description: 'Canvas width in pixels.'
                height:
                  type: integer
                  description: 'Canvas height in pixels.'
                tiles:
                  type: array
                  items:
                    $ref: '#/components/schemas/TileResource'
                  description: 'In order of position.'
            LayoutSettingsResource:
              description: 'How a room''s tiles are arranged.'
              type: object
              required:
                - type
                - priority
                - grid_size
                - orientation
                - theme
                - scale_mode
                - auto_switch_on_screen_share
                - overlays
                - transition_ms
                - background
                - logo
                - lower_third
                - ticker
                - slates
              properties:
                type:
                  type: string
                  description: 'GRID, SPOTLIGHT or SIDEBAR.'
                priority:
                  type: string
                  description: 'Who comes first: SPEAKER or PIN. In GRID with SPEAKER a pin moves nobody who is shown.'
                grid_size:
                  type: integer
                  description: 'Tiles at the same time, 1 to 12.'
                rotate_every:
                  type: integer
                  description: >-
                    Seconds after which hosts without a tile take turns with those who have one; left out where they never
                    do.
                orientation:
                  type: string
                  description: 'landscape or portrait.'
                theme:
                  type: string
                  description: 'DARK, LIGHT or DEFAULT, which is DARK.'
                scale_mode:
                  type: string
                  description: 'How cameras fill their tiles: fill or fit.'
                auto_switch_on_screen_share:
                  type: boolean
                  description: 'A screen share takes the large place by itself.'
                overlays:
                  $ref: '#/components/schemas/OverlaysResource'
                transition_ms:
                  type: integer
                  description: 'Milliseconds in which tiles move, come and go.'
                background:
                  anyOf:
                    - $ref: '#/components/schemas/BackgroundResource'
                    - type: "null"
                  description: 'What lies behind the tiles; null is the theme''s colour.'
                logo:
                  anyOf:
                    - $ref: '#/components/schemas/LogoResource'
                    - type: "null"
                  description: 'A picture over a corner of the canvas; null without one.'
                lower_third:
                  anyOf:
                    - $ref: '#/components/schemas/LowerThirdResource'
                    - type: "null"
                  description: 'Two lines over the lower part of the canvas; null without them.'
                ticker:
                  anyOf:
                    - $ref: '#/components/schemas/TickerResource'
                    - type: "null"
                  description: 'Text that runs along the lower edge of the canvas; null without it.'
                slates:
                  $ref: '#/components/schemas/SlatesResource'
                  description: 'What the program is while it shows nobody.'
            OverlaysBody:
              description: 'What is to be written on the tiles; what is left out stays as it is.'
              type: object
              properties:
                name:
                  type: boolean
                  description: 'The host''s display name.'
                mic:
                  type: boolean
                  description: 'Whether the microphone is heard.'
            OverlaysResource:
              description: 'What is written on the tiles.'
              type: object
              required:
                - name
                - mic
              properties:
                name:
                  type: boolean
                  description: 'The host''s display name.'
                mic:
                  type: boolean
                  description: 'Whether the microphone is heard.'
            PreviewHost:
              description: 'A host that a layout is tried with.'
              type: object
              required:
                - label
              properties:
                sid:
                  type: string
                  description: 'Whatever tells the host apart; host-1, host-2 and so on when left out.'
                label:
                  type: string
                  description: 'The name on the tile.'
                has_camera:
                  type: boolean
                  description: 'The camera is seen; true when left out.'
                has_mic:
                  type: boolean
                  description: 'The microphone is heard; true when left out.'
                has_screen:
                  type: boolean
                  description: 'A screen is seen; false when left out.'
                is_dominant_speaker:
                  type: boolean
                  description: 'Has the word; false when left out.'
                pin_type:
                  type: string
                  description: 'SHARE_AND_CAM, CAM or SHARE; not pinned when left out.'
                avatar:
                  type: string
                  description: 'What stands for the host while the camera is off, asset:NAME or a URL.'
            TileResource:
              description: 'One place of the program''s picture.'
              type: object
              required:
                - position
                - participant_sid
                - source
                - x
                - y
                - width
                - height
                - scale_mode
                - label
                - mic_on
                - avatar
                - in_strip
              properties:
                position:
                  type: integer
                  description: 'Index in row-major order.'
                participant_sid:
                  type: string
                  description: 'Whose tile it is.'
                source:
                  type: string
                  description: 'camera, screen or placeholder.'
                x:
                  type: integer
                  description: 'Pixels from the left, even.'
                y:
                  type: integer
                  description: 'Pixels from the top, even.'
                width:
                  type: integer
                  description: 'Pixels, even.'
                height:
                  type: integer
                  description: 'Pixels, even.'
                scale_mode:
                  type: string
                  description: 'fill or fit.'
                label:
                  type: string
                  description: 'The host''s display name.'
                mic_on:
                  type: boolean
                  description: 'The microphone is heard.'
                avatar:
                  type: [string, "null"]
                  description: >-
                    What stands for the host while the camera is off, asset:NAME or a URL; null without one.
                in_strip:
                  type: boolean
                  description: 'It is one of the small tiles beside a large one.'
        """
}
