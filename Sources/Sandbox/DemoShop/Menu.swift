import DirectWire
import TenderPayments

/// What a shop sells, where it delivers, and by what rules it prices. All of it is the shop's alone; Tender learns it
/// with each basket.
package struct Menu: Sendable {
  /// As on the shop's front, and on the card statement.
  package let title: String
  let tagline: String
  /// Chooses the page's colours.
  let theme: String
  /// Begins the shop's own order numbers: `HK`.
  let referencePrefix: String
  let countryCode: String
  let currencyCode: String
  let dishes: [Dish]
  let fees: [BasketDocument.Fee]
  let zones: [BasketDocument.Zone]
  let methods: [BasketDocument.Method]
  let coupons: [BasketDocument.Coupon]

  struct Dish: Sendable, Encodable {
    let id: String
    let name: String
    let description: String
    /// Minor units of the menu's currency.
    let amount: Int64
    /// The zones it can be delivered to; nil for all.
    var availableIn: [String]?
    /// What the dish's own page says.
    var about = ""
    var allergens: [String] = []
  }

  func dish(_ id: String) -> Dish? { dishes.first { $0.id == id } }
}

extension Menu {
  /// Fish, chips and euros.
  package static let harbourKitchen = Menu(
    title: "Harbour Kitchen",
    tagline: "Landed this morning, fried this evening, in Dublin and London.",
    theme: "harbour",
    referencePrefix: "HK",
    countryCode: "IE",
    currencyCode: "EUR",
    dishes: [
      Dish(
        id: "fish", name: "Fish and chips", description: "Beer-battered haddock, chips, tartare", amount: 1290,
        about: "Haddock off the Killybegs boats, in a batter that is mostly stout and patience. The chips are cut"
          + " thick and fried twice; the tartare sauce has more capers than it needs.",
        allergens: ["fish", "wheat", "barley", "egg"]),
      Dish(
        id: "chowder", name: "Seafood chowder", description: "Smoked fish, mussels, soda bread", amount: 950,
        about: "Smoked and white fish, mussels and a spoon of cream, cooked slowly and sent out with a slice of this"
          + " morning’s soda bread.", allergens: ["fish", "molluscs", "milk", "wheat"]),
      Dish(
        id: "crab", name: "Crab roll", description: "Dressed crab, lemon mayonnaise, brioche", amount: 1150,
        about: "White crab, picked by hand, held together by lemon mayonnaise and a buttered roll. It travels well,"
          + " though not far.", allergens: ["crustaceans", "egg", "milk", "wheat"]),
      Dish(
        id: "oysters", name: "Six oysters", description: "On ice with lemon", amount: 1800,
        availableIn: ["dublin", "london"],
        about: "Opened when you order and carried on ice, so they go only where a bicycle gets in half an hour:"
          + " Dublin and London.", allergens: ["molluscs"]),
      Dish(
        id: "peas", name: "Mushy peas", description: "With mint", amount: 350,
        about: "Marrowfat peas, soaked overnight, and mint from the window sill."),
      Dish(
        id: "lemonade", name: "Lemonade", description: "Pressed here, barely sweet", amount: 320,
        about: "Lemons, water, a little sugar. It is pressed when the kitchen opens, and when it is gone it is gone."),
    ],
    fees: [.init(label: "Service fee", amount: 50, serviceTypes: ["delivery"])],
    zones: [
      .init(id: "dublin", countryCode: "IE", postalPrefixes: ["D0"], methods: local),
      .init(id: "ireland", countryCode: "IE", methods: ["van"]),
      .init(id: "japan", countryCode: "JP", methods: far),
    ] + abroad,
    methods: [
      .init(identifier: "bike", label: "Bike", detail: "30–45 minutes", amount: 250, freeFrom: 3000),
      .init(identifier: "van", label: "Van", detail: "45–75 minutes", amount: 490),
      .init(identifier: "courier", label: "Chilled courier", detail: "The day after tomorrow", amount: 1450),
      .init(identifier: "express", label: "Chilled express", detail: "Tomorrow before noon", amount: 2600),
    ],
    coupons: [
      .init(code: "LUNCH10", label: "Lunch offer", percentBasisPoints: 1000),
      .init(code: "WELCOME", label: "Welcome", amount: 200),
      .init(code: "SUMMER", label: "Summer offer", percentBasisPoints: 2000, expiresAt: endOfSummer),
    ])

  /// Noodles, and a currency without decimals.
  package static let kitsuneNoodles = Menu(
    title: "Kitsune Noodles",
    tagline: "Broth since five in the morning, in Tokyo and London.",
    theme: "kitsune",
    referencePrefix: "KN",
    countryCode: "JP",
    currencyCode: "JPY",
    dishes: [
      Dish(
        id: "kitsune", name: "Kitsune udon", description: "Sweet fried tofu, dashi, spring onion", amount: 880,
        about: "Thick noodles in a clear broth, under a slice of fried tofu that was simmered sweet. Foxes are said"
          + " to love it.", allergens: ["wheat", "soya", "fish"]),
      Dish(
        id: "shoyu", name: "Shoyu ramen", description: "Chicken broth, soy, bamboo, egg", amount: 1080,
        about: "Six hours of chicken and kelp, seasoned with soy, over thin noodles.",
        allergens: ["wheat", "soya", "egg"]),
      Dish(
        id: "miso", name: "Miso ramen", description: "Red miso, sweetcorn, butter", amount: 1180,
        about: "The northern one: red miso, sweetcorn, and a piece of butter that melts on the way.",
        allergens: ["wheat", "soya", "milk"]),
      Dish(
        id: "tempura", name: "Tempura soba", description: "Two prawns, shiso, buckwheat noodles", amount: 1380,
        availableIn: ["tokyo", "london"],
        about: "Fried as the rider puts on a helmet. It is crisp for twenty minutes, so it goes only to Tokyo and"
          + " London.", allergens: ["crustaceans", "wheat", "buckwheat"]),
      Dish(
        id: "gyoza", name: "Gyoza", description: "Six, pork and cabbage", amount: 480,
        about: "Folded in the afternoon, fried on one side only.", allergens: ["wheat", "soya", "sesame"]),
      Dish(
        id: "mugicha", name: "Barley tea", description: "Cold", amount: 250,
        about: "Roasted barley, cold water, a night in the fridge.", allergens: ["barley"]),
    ],
    fees: [.init(label: "Packaging", amount: 30)],
    zones: [
      .init(id: "tokyo", countryCode: "JP", postalPrefixes: ["1"], methods: local),
      .init(id: "japan", countryCode: "JP", methods: ["van"]),
    ] + abroad,
    methods: [
      .init(identifier: "bike", label: "Bike", detail: "30–40 minutes", amount: 300, freeFrom: 4000),
      .init(identifier: "van", label: "Van", detail: "40–60 minutes", amount: 550),
      .init(identifier: "courier", label: "Chilled courier", detail: "In three days", amount: 2400),
      .init(identifier: "express", label: "Chilled express", detail: "Tomorrow before noon", amount: 4200),
    ],
    coupons: [
      .init(code: "LUNCH10", label: "Lunch offer", percentBasisPoints: 1000),
      .init(code: "WELCOME", label: "Welcome", amount: 200),
      .init(code: "SUMMER", label: "Summer offer", percentBasisPoints: 2000, expiresAt: endOfSummer),
    ])

  private static let local = ["bike", "van"]
  private static let far = ["courier", "express"]

  /// Both shops have a second kitchen in London and ship to a few places far away, so that a wallet with addresses of
  /// several countries has something to choose. Everywhere else is too far.
  private static let abroad: [BasketDocument.Zone] = [
    .init(id: "london", countryCode: "GB", postalPrefixes: ["EC", "SW", "WC", "W1"], methods: local),
    .init(id: "america", countryCode: "US", postalPrefixes: ["222", "950", "941", "100"], methods: far),
    .init(id: "germany", countryCode: "DE", methods: far),
  ]

  private static let endOfSummer = WireTime(Timestamp(seconds: 1_756_684_800))  // 2025-09-01
}
