/// The texts of all overlays in one script.
struct OverlayTexts {
    /// The names of four hosts.
    let names: [String]
    let title: String
    let subtitle: String
    let ticker: String
    let slate: String

    enum Script: String, CaseIterable {
        case latin
        case arabic
        case hindi
        case chinese
        case emoji
    }

    var all: [String] { names + [title, subtitle, ticker, slate] }

    static func of(_ script: Script) -> OverlayTexts {
        switch script {
        case .latin:
            OverlayTexts(
                names: ["Ada Lovelace", "Zoë Núñez", "Jörg Weiß", "Łucja Żak"],
                title: "Countess and mathematician",
                subtitle: "The first program, a hundred years early",
                ticker: "Latest: the first program runs, and nobody has a machine for it",
                slate: "Starting soon"
            )
        case .arabic:
            OverlayTexts(
                names: ["فاطمة الزهراء", "محمد علي", "ليلى مراد", "عمر الخيام"],
                title: "مرحبا بكم في العرض",
                subtitle: "بث مباشر من القاهرة",
                ticker: "عاجل: لم يحدث شيء اليوم، وسنخبركم عندما يحدث شيء",
                slate: "سنبدأ قريبا"
            )
        case .hindi:
            OverlayTexts(
                names: ["प्रियंका चोपड़ा", "अमित कुमार", "श्रीदेवी", "क्षितिज वर्मा"],
                title: "कार्यक्रम में आपका स्वागत है",
                subtitle: "दिल्ली से सीधा प्रसारण",
                ticker: "ताज़ा समाचार: आज कुछ नहीं हुआ, होने पर हम बताएँगे",
                slate: "जल्द शुरू होगा"
            )
        case .chinese:
            OverlayTexts(
                names: ["王小明", "李娜", "張偉", "欧阳修"],
                title: "欢迎收看今天的节目",
                subtitle: "来自上海的现场直播",
                ticker: "最新消息:今天什么都没有发生,一有消息我们就告诉大家",
                slate: "即将开始"
            )
        case .emoji:
            OverlayTexts(
                names: ["🎉 Zoë", "👩🏽‍🚀", "🍓🥦", "👨‍👩‍👧 🇫🇷"],
                title: "🚀 Lift-off 🎬",
                subtitle: "👍🏾 ✨ 🥇",
                ticker: "🍓 🥦 🍕 ⚽️ 🎧 🎹 🏔 🌍 🐳 🦜 ❤️ ☂️",
                slate: "🎬 ⏳"
            )
        }
    }
}
