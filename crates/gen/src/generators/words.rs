//! Built-in word lists. They are frozen with the rest of the algorithm: rows pick by position.

/// Everyday words of at least 3 letters; eight random bits choose one.
pub(super) static WORDS: [&str; 256] = [
    "acorn", "alarm", "album", "almond", "alpine", "amber", "anchor", "angle", "ankle", "apple", "april", "apron",
    "arbor", "archer", "arrow", "ash", "atlas", "attic", "autumn", "badge", "baker", "bamboo", "banjo", "barley",
    "barn", "basil", "basin", "basket", "beach", "beacon", "beaver", "bell", "bench", "berry", "birch", "bird",
    "bison", "blanket", "blossom", "blue", "board", "boat", "bolt", "book", "boot", "border", "bottle", "boulder",
    "bowl", "branch", "brass", "bread", "brick", "bridge", "bright", "bronze", "brook", "brush", "bucket", "butter",
    "button", "cabin", "cable", "cactus", "camel", "camera", "candle", "canoe", "canvas", "canyon", "card", "cargo",
    "carpet", "carrot", "castle", "cedar", "chalk", "cherry", "chest", "circle", "citrus", "clay", "cliff", "clock",
    "cloud", "clover", "coast", "cobalt", "comet", "copper", "coral", "corner", "cotton", "crane", "creek", "cricket",
    "crimson", "crystal", "current", "dairy", "daisy", "dawn", "delta", "desert", "dove", "dragon", "drift", "drum",
    "dune", "dusk", "eagle", "earth", "east", "echo", "ember", "engine", "fabric", "falcon", "farm", "feather", "fern",
    "ferry", "field", "fire", "flame", "flint", "flour", "flute", "forest", "fossil", "fox", "frost", "garden", "gate",
    "ginger", "glacier", "glass", "globe", "gold", "grain", "granite", "grape", "grass", "gravel", "green", "grove",
    "hammer", "harbor", "harvest", "hazel", "hill", "honey", "horizon", "horn", "indigo", "iron", "island", "ivory",
    "jade", "jasmine", "jewel", "juniper", "kettle", "kite", "ladder", "lagoon", "lake", "lamp", "lantern", "laurel",
    "lava", "leaf", "lemon", "light", "lilac", "linen", "lion", "maple", "marble", "market", "meadow", "melon", "mill",
    "mint", "mirror", "mist", "moon", "moss", "mountain", "nest", "north", "oak", "oat", "ocean", "olive", "opal",
    "orange", "orchid", "owl", "paper", "peach", "pearl", "pebble", "pepper", "pine", "planet", "plum", "pond",
    "poppy", "prairie", "quartz", "quiet", "quill", "rain", "raven", "reed", "ridge", "river", "robin", "rose", "ruby",
    "sage", "sail", "salt", "sand", "silver", "slate", "snow", "south", "spring", "star", "stone", "storm", "straw",
    "summit", "sun", "swan", "table", "thunder", "tide", "timber", "tulip", "valley", "velvet", "violet", "walnut",
    "water", "wave", "west", "wheat", "willow", "wind", "winter", "wolf", "wood", "yellow",
];

/// First names of people.
pub(super) static FIRST_NAMES: [&str; 64] = [
    "Ada", "Alma", "Amir", "Anna", "Anton", "Aria", "Arne", "Bela", "Bruno", "Carla", "Chen", "Clara", "Dana", "David",
    "Diego", "Dora", "Edgar", "Elena", "Elias", "Emil", "Emma", "Erik", "Esra", "Eva", "Felix", "Fiona", "Frida",
    "Gita", "Greta", "Hana", "Hugo", "Ida", "Ines", "Isak", "Ivan", "Jana", "Joel", "Jonas", "Julia", "Kaito", "Karim",
    "Kira", "Lars", "Lea", "Leon", "Lina", "Luca", "Maja", "Marco", "Maria", "Mila", "Nadia", "Nils", "Nora", "Omar",
    "Oscar", "Paula", "Petra", "Ravi", "Rosa", "Samir", "Sofia", "Tomas", "Yuki",
];

/// Last names of people.
pub(super) static LAST_NAMES: [&str; 64] = [
    "Adler", "Aoki", "Bauer", "Becker", "Berg", "Brandt", "Costa", "Dahl", "Diaz", "Duarte", "Ekberg", "Engel",
    "Ferrari", "Fischer", "Foster", "Garcia", "Graf", "Haas", "Hansen", "Harper", "Hayashi", "Holm", "Ibrahim", "Ito",
    "Jansen", "Jensen", "Kaya", "Keller", "Khan", "Klein", "Kumar", "Lang", "Larsen", "Lehmann", "Lopez", "Lund",
    "Marino", "Mendez", "Meyer", "Moreau", "Moreno", "Nakano", "Nguyen", "Novak", "Olsen", "Patel", "Pereira",
    "Petrov", "Quist", "Rao", "Ricci", "Rossi", "Sato", "Schmidt", "Silva", "Singh", "Soto", "Tanaka", "Torres",
    "Vidal", "Vogel", "Weber", "Wolff", "Zhang",
];

/// Cities.
pub(super) static CITIES: [&str; 64] = [
    "Accra",
    "Amsterdam",
    "Ankara",
    "Athens",
    "Auckland",
    "Bangkok",
    "Barcelona",
    "Beirut",
    "Berlin",
    "Bogota",
    "Boston",
    "Brisbane",
    "Brussels",
    "Budapest",
    "Buenos Aires",
    "Cairo",
    "Cape Town",
    "Chicago",
    "Copenhagen",
    "Dakar",
    "Delhi",
    "Denver",
    "Dublin",
    "Edinburgh",
    "Geneva",
    "Hamburg",
    "Hanoi",
    "Havana",
    "Helsinki",
    "Istanbul",
    "Jakarta",
    "Kyoto",
    "Lagos",
    "Lima",
    "Lisbon",
    "London",
    "Lyon",
    "Madrid",
    "Manila",
    "Melbourne",
    "Milan",
    "Montreal",
    "Mumbai",
    "Munich",
    "Nairobi",
    "Oslo",
    "Paris",
    "Porto",
    "Prague",
    "Quito",
    "Riga",
    "Rome",
    "Santiago",
    "Seoul",
    "Singapore",
    "Sofia",
    "Stockholm",
    "Sydney",
    "Tallinn",
    "Tokyo",
    "Toronto",
    "Vienna",
    "Warsaw",
    "Zurich",
];

/// Countries.
pub(super) static COUNTRIES: [&str; 64] = [
    "Argentina",
    "Australia",
    "Austria",
    "Belgium",
    "Bolivia",
    "Brazil",
    "Bulgaria",
    "Canada",
    "Chile",
    "China",
    "Colombia",
    "Croatia",
    "Cuba",
    "Cyprus",
    "Denmark",
    "Ecuador",
    "Egypt",
    "Estonia",
    "Ethiopia",
    "Finland",
    "France",
    "Germany",
    "Ghana",
    "Greece",
    "Hungary",
    "Iceland",
    "India",
    "Indonesia",
    "Ireland",
    "Israel",
    "Italy",
    "Jamaica",
    "Japan",
    "Jordan",
    "Kenya",
    "Latvia",
    "Lebanon",
    "Lithuania",
    "Malaysia",
    "Mexico",
    "Morocco",
    "Nepal",
    "Netherlands",
    "New Zealand",
    "Nigeria",
    "Norway",
    "Peru",
    "Philippines",
    "Poland",
    "Portugal",
    "Romania",
    "Senegal",
    "Singapore",
    "South Korea",
    "Spain",
    "Sweden",
    "Switzerland",
    "Thailand",
    "Tunisia",
    "Turkey",
    "Uganda",
    "Ukraine",
    "Uruguay",
    "Vietnam",
];

/// A word in a block of fixed width, padded with at least one blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedWord {
    pub bytes: [u8; PADDED_LEN],
    pub len: usize,
}

/// Width of a padded word.
pub(super) const PADDED_LEN: usize = 16;

/// [`WORDS`] as blocks.
pub(super) static PADDED: [PaddedWord; WORDS.len()] = {
    let mut table = [PaddedWord { bytes: [b' '; PADDED_LEN], len: 0 }; WORDS.len()];
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index].as_bytes();
        assert!(word.len() < PADDED_LEN);
        let mut at = 0;
        while at < word.len() {
            table[index].bytes[at] = word[at];
            at += 1;
        }
        table[index].len = word.len();
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lists_hold_no_word_twice() {
        for list in [WORDS.as_slice(), &FIRST_NAMES, &LAST_NAMES, &CITIES, &COUNTRIES] {
            assert_eq!(list.iter().collect::<HashSet<_>>().len(), list.len());
            assert!(list.is_sorted() && list.iter().all(|word| word.is_ascii()));
        }
    }

    #[test]
    fn padded_words_are_words() {
        for (padded, word) in PADDED.iter().zip(WORDS) {
            assert_eq!(&padded.bytes[..padded.len], word.as_bytes());
            assert!(padded.bytes[padded.len..].iter().all(|&byte| byte == b' '));
            assert!(word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
        }
    }
}
