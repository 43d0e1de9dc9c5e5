//! Risk words: they raise risk, and never lower it. Structure decides.

use crate::assess::RiskKind;
use crate::lexicon::{ADDRESS, ADDRESS_KEYS, ADDRESS_WITH_OBJECT, HARMLESS, RISKY};
use crate::plain::plain_text;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};
use url::Url;

/// Letters of a caption written apart, as in `B U Y`, that are read as one word.
const SPELLED_OUT: usize = 3;

/// The most telling risk that the words of a caption name, in any of the languages known here.
pub fn caption_risk(caption: &str) -> Option<RiskKind> {
    let mut text = folded(caption);
    let mut words = words(&text);
    LEXICON.harmless.take_out(&mut text, &mut words);
    let named = LEXICON.risky.find(&text, &words);
    // A word of two alphabets is made to be read as another than it is.
    let disguised = words.iter().any(|word| is_disguised(word));
    named.max(disguised.then_some(RiskKind::Unclassified))
}

/// The most telling risk that the path and query of an address name. They are English on most
/// sites, whatever language the captions are in.
pub(crate) fn address_risk(url: &str) -> Option<RiskKind> {
    let url = Url::parse(url).ok()?;
    let numbered = url.path().contains(|c: char| c.is_ascii_digit());
    let has_object = numbered || url.query().is_some();
    let segments = url.path_segments().into_iter().flatten().map(|segment| {
        // `delete.php` does what `delete` does.
        segment.split_once('.').map_or(segment, |(name, _)| name).to_lowercase()
    });
    let mut queried = Vec::new();
    for (key, value) in url.query_pairs() {
        let key = key.to_lowercase();
        if ADDRESS_KEYS.contains(&key.as_str()) {
            queried.push(value.to_lowercase());
        }
        queried.push(key);
    }
    let lists = [Some(ADDRESS), has_object.then_some(ADDRESS_WITH_OBJECT)];
    segments
        .chain(queried)
        .flat_map(|word| lists.into_iter().flatten().filter_map(move |list| listed(list, &word)))
        .max()
}

/// The same for the address that a form sends to, in which every word counts: what a form sends
/// has an effect, so a word too many only names it better.
pub(crate) fn submission_risk(url: &str) -> Option<RiskKind> {
    let parsed = Url::parse(url).ok()?;
    let words = parsed.path().split(|c: char| !c.is_ascii_alphanumeric());
    let lists = [ADDRESS, ADDRESS_WITH_OBJECT];
    let named = words
        .map(str::to_lowercase)
        .flat_map(|word| lists.into_iter().filter_map(move |list| listed(list, &word)))
        .max();
    named.max(address_risk(url))
}

fn listed(list: &[(RiskKind, &[&str])], word: &str) -> Option<RiskKind> {
    list.iter().find_map(|(kind, words)| words.contains(&word).then_some(*kind))
}

/// A caption as it is compared: without case, accents, compatibility forms and what can't be seen.
fn folded(text: &str) -> String {
    let letters: String = plain_text(text).nfkd().filter(|c| !is_accent(*c)).collect();
    letters
        .to_lowercase()
        .chars()
        .map(|c| match c {
            'ł' => 'l',
            'ø' => 'o',
            'đ' => 'd',
            'ı' => 'i',
            _ => c,
        })
        .nfc()
        .collect::<String>()
        .replace('ß', "ss")
        .replace('æ', "ae")
        .replace('œ', "oe")
}

/// Marks that don't change a word: accents of Latin, Greek and Cyrillic, Hebrew points, Arabic
/// vowels. In Indic scripts marks are letters.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{06D6}'..='\u{06ED}')
}

fn words(folded: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut spelled = String::new();
    let split = folded.split(|c: char| !(c.is_alphanumeric() || is_combining_mark(c)));
    for word in split.filter(|word| !word.is_empty()).chain([""]) {
        if word.chars().count() == 1 {
            spelled.push_str(word);
            continue;
        }
        if spelled.chars().count() >= SPELLED_OUT {
            words.push(std::mem::take(&mut spelled));
        }
        words.extend(spelled.drain(..).map(String::from));
        if !word.is_empty() {
            words.push(word.to_owned());
        }
    }
    words
}

/// Whether a word mixes alphabets whose letters look alike.
fn is_disguised(word: &str) -> bool {
    let alike = |script| {
        matches!(
            script,
            Script::Latin | Script::Greek | Script::Cyrillic | Script::Armenian | Script::Cherokee
        )
    };
    let mut scripts = word.chars().map(|c| c.script()).filter(|script| alike(*script));
    scripts.next().is_some_and(|first| scripts.any(|script| script != first))
}

struct Lexicon {
    risky: Patterns<RiskKind>,
    harmless: Patterns<()>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { risky: Patterns::new(), harmless: Patterns::new() };
    for (kind, lines) in RISKY {
        lexicon.risky.add(lines, *kind);
    }
    lexicon.harmless.add(HARMLESS, ());
    lexicon
});

/// What captions are searched for. The lexicon's own page tells how patterns are written.
struct Patterns<T> {
    /// By their first word.
    words: HashMap<String, Vec<(Words, T)>>,
    /// Those that begin with the beginning of a word.
    stems: Vec<(Words, T)>,
    pieces: Vec<(String, T)>,
}

struct Words {
    /// Only at the start of a caption.
    first: bool,
    words: Vec<Word>,
}

struct Word {
    text: String,
    beginning: bool,
}

impl<T: Copy + Ord> Patterns<T> {
    fn new() -> Self {
        Self { words: HashMap::new(), stems: Vec::new(), pieces: Vec::new() }
    }

    fn add(&mut self, lines: &[&str], kind: T) {
        for pattern in lines.iter().flat_map(|line| line.split(',')).map(str::trim) {
            if let Some(piece) = pattern.strip_prefix('~') {
                self.pieces.push((folded(piece), kind));
                continue;
            }
            let pattern = Words::read(pattern);
            match pattern.words.first() {
                Some(word) if !word.beginning => {
                    self.words.entry(word.text.clone()).or_default().push((pattern, kind));
                }
                _ => self.stems.push((pattern, kind)),
            }
        }
    }

    /// Where patterns stand in a caption, and what they mean.
    fn places(&self, words: &[String]) -> impl Iterator<Item = (Range<usize>, T)> {
        words.iter().enumerate().flat_map(move |(at, word)| {
            let exact = self.words.get(word).into_iter().flatten();
            exact.chain(&self.stems).filter_map(move |(pattern, kind)| {
                pattern.stands(words, at).then_some((at..at + pattern.words.len(), *kind))
            })
        })
    }

    fn find(&self, text: &str, words: &[String]) -> Option<T> {
        let named = self.places(words).map(|(_, kind)| kind).max();
        // Pieces are never plain letters.
        if text.is_ascii() {
            return named;
        }
        let pieces = self.pieces.iter().filter(|(piece, _)| text.contains(piece.as_str()));
        named.max(pieces.map(|(_, kind)| *kind).max())
    }

    fn take_out(&self, text: &mut String, words: &mut Vec<String>) {
        loop {
            let Some((range, _)) = self.places(words).next() else { break };
            words.drain(range);
        }
        for (piece, _) in &self.pieces {
            if text.contains(piece.as_str()) {
                *text = text.replace(piece.as_str(), " ");
            }
        }
    }
}

impl Words {
    fn read(pattern: &str) -> Self {
        let (first, pattern) = match pattern.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let words = pattern.split_whitespace().map(|word| match word.strip_suffix('*') {
            Some(stem) => Word { text: folded(stem), beginning: true },
            None => Word { text: folded(word), beginning: false },
        });
        Self { first, words: words.collect() }
    }

    fn stands(&self, caption: &[String], at: usize) -> bool {
        let Some(here) = caption.get(at..at + self.words.len()) else { return false };
        (at == 0 || !self.first)
            && here.iter().zip(&self.words).all(|(word, wanted)| wanted.matches(word))
    }
}

impl Word {
    fn matches(&self, word: &str) -> bool {
        if self.beginning { word.starts_with(&self.text) } else { word == self.text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, Option<RiskKind>)]) {
        for (caption, risk) in cases {
            assert_eq!(caption_risk(caption), *risk, "{caption}");
        }
    }

    /// R-152, in every language of the lexicon: one caption of each kind, in the order purchase,
    /// send, delete, sign in, upload, download, subscription.
    #[test]
    fn r152_words_of_many_languages_raise_risk() {
        let kinds = [
            RiskKind::Purchase,
            RiskKind::Send,
            RiskKind::Delete,
            RiskKind::SignIn,
            RiskKind::Upload,
            RiskKind::Download,
            RiskKind::Subscription,
        ];
        for language in [
            "en: Buy now; Post reply; Delete account; Sign in; Upload a photo; Download PDF; Cancel my subscription",
            "de: Jetzt zahlungspflichtig bestellen; Nachricht absenden; Konto LÖSCHEN; Anmelden; Datei hochladen; Rechnung herunterladen; Abo kündigen",
            "fr: Passer la commande; Envoyer; Supprimer le compte; Se connecter; Téléverser un fichier; Télécharger la facture; S’abonner",
            "es: Comprar ahora; Publicar; Eliminar cuenta; Iniciar sesión; Adjuntar archivo; Descargar; Darse de baja",
            "pt: Finalizar pedido; Compartilhar; Excluir conta; Iniciar sessão; Anexar arquivo; Baixar; Cancelar assinatura",
            "it: Acquista ora; Pubblica; Cancella account; Accedi; Carica file; Scarica; Annulla abbonamento",
            "nl: Afrekenen; Versturen; Account verwijderen; Inloggen; Bestand uploaden; Downloaden; Abonnement opzeggen",
            "pl: Zamawiam i płacę; Wyślij; Usuń konto; Zaloguj się; Prześlij plik; Pobierz; Anuluj subskrypcję",
            "tr: SATIN AL; Gönder; Hesabı sil; Giriş yap; Dosya yükle; İndir; Abone ol",
            "ru: Купить сейчас; Отправить; Удалить аккаунт; Войти; Прикрепить файл; Скачать; Отменить подписку",
            "uk: Оформити замовлення; Надіслати; Видалити; Увійти; Прикріпити файл; Встановити; Скасувати підписку",
            "ar: اشترِ الآن; إرسال; حذف الحساب; تسجيل الدخول; إرفاق ملف; تنزيل; إلغاء الاشتراك",
            "he: לתשלום; שליחה; מחק חשבון; התחבר; צרף קובץ; הורדה; ביטול מנוי",
            "hi: अभी खरीदें; भेजें; खाता हटाएं; लॉग इन करें; फ़ाइल अपलोड करें; डाउनलोड करें; सब्सक्राइब करें",
            "zh: 立即购买; 发表评论; 删除账号; 登录; 上传文件; 下載; 退订",
            "ja: 注文を確定する; メッセージを送信; アカウントを削除; ログイン; ファイルを添付; ダウンロード; 定期購読を解約",
            "ko: 구매하기; 메일 보내기; 계정 삭제; 로그인; 파일 업로드; 다운로드; 구독 해지",
            "sv: Slutför köp; Skicka; Ta bort konto; Logga in; Ladda upp; Ladda ner; Säg upp",
            "da: Betal nu; Offentliggør; Slet konto; Log ind; Vedhæft fil; Hent filen; Opsig abonnement",
            "fi: Osta nyt; Lähetä; Poista tili; Kirjaudu sisään; Liitä tiedosto; Asenna; Peru tilaus",
            "cs: Objednat s povinností platby; Odeslat; Smazat účet; Přihlásit se; Nahrát soubor; Stáhnout; Zrušit předplatné",
        ] {
            let (_, captions) = language.split_once(": ").expect("a language");
            let captions: Vec<&str> = captions.split("; ").collect();
            assert_eq!(captions.len(), kinds.len(), "{language}");
            for (caption, kind) in captions.into_iter().zip(kinds) {
                assert_eq!(caption_risk(caption), Some(kind), "{caption}");
            }
        }
    }

    /// Words that do nothing ask nothing.
    #[test]
    fn captions_without_a_risk_word_raise_none() {
        for caption in [
            "Home",
            "About us",
            "Contact",
            "Next page",
            "Search",
            "Read more",
            "Settings",
            "Orders",
            "Order history",
            "Latest posts",
            "Books",
            "Address book",
            "Buyers' guide",
            "Payments",
            "Shared with me",
            "Sent",
            "Recently deleted",
            "Apply filters",
            "Clear search",
            "How it works",
            "Startseite",
            "Über uns",
            "Weiter",
            "Suche",
            "Accueil",
            "Suivant",
            "Rechercher",
            "Inicio",
            "Siguiente",
            "Buscar",
            "Início",
            "Próxima",
            "Avanti",
            "Cerca",
            "Volgende",
            "Zoeken",
            "Strona główna",
            "Dalej",
            "Ana sayfa",
            "Sonraki",
            "Ara",
            "Главная",
            "Далее",
            "Поиск",
            "Головна",
            "Далі",
            "الرئيسية",
            "التالي",
            "بحث",
            "דף הבית",
            "הבא",
            "חיפוש",
            "मुखपृष्ठ",
            "अगला",
            "खोजें",
            "首页",
            "下一页",
            "搜索",
            "ホーム",
            "次へ",
            "検索",
            "홈",
            "다음",
            "검색",
            "Hem",
            "Nästa",
            "Sök",
            "Hjem",
            "Næste",
            "Søg",
            "Etusivu",
            "Seuraava",
            "Hae",
            "Domů",
            "Další",
            "Hledat",
            "",
            "→",
            "3",
            "c++",
            "日本語",
            "ελληνικά",
        ] {
            assert_eq!(caption_risk(caption), None, "{caption}");
        }
    }

    /// Captions that are made to escape the words.
    #[test]
    fn disguised_words_are_read_all_the_same() {
        check(&[
            ("B\u{200B}u\u{2060}y n\u{00AD}ow", Some(RiskKind::Purchase)),
            ("B U Y", Some(RiskKind::Purchase)),
            ("ＢＵＹ　ＮＯＷ", Some(RiskKind::Purchase)),
            ("𝐃𝐞𝐥𝐞𝐭𝐞", Some(RiskKind::Delete)),
            ("b\u{0336}u\u{0336}y\u{0336}", Some(RiskKind::Purchase)),
            ("Delete \u{202E}etaerC", Some(RiskKind::Delete)),
            ("\u{0412}uy now", Some(RiskKind::Unclassified)),
            ("SEND→", Some(RiskKind::Send)),
            ("🛒Buy", Some(RiskKind::Purchase)),
        ]);
    }

    /// The most telling word decides, wherever it stands.
    #[test]
    fn the_most_telling_word_decides() {
        check(&[
            ("Sign in to buy", Some(RiskKind::Purchase)),
            ("Download or delete", Some(RiskKind::Delete)),
            ("Post", Some(RiskKind::Send)),
            ("The post", None),
            ("Book a table", Some(RiskKind::Purchase)),
            ("A good book", None),
            ("Check out our books and buy one", Some(RiskKind::Purchase)),
        ]);
    }

    /// W-113: an address that does something is no mere navigation.
    #[test]
    fn addresses_that_do_something_raise_risk() {
        for (url, risk) in [
            ("https://a.example/logout", Some(RiskKind::SignIn)),
            ("https://a.example/account/Sign-Out.aspx", Some(RiskKind::SignIn)),
            ("https://a.example/items/5/delete", Some(RiskKind::Delete)),
            ("https://a.example/delete.php?id=5", Some(RiskKind::Delete)),
            ("https://a.example/?action=delete", Some(RiskKind::Delete)),
            ("https://a.example/index.php?do=Remove&x=1", Some(RiskKind::Delete)),
            ("https://a.example/confirm?token=x", Some(RiskKind::SignIn)),
            ("https://a.example/list/unsubscribe/abc", Some(RiskKind::Subscription)),
            ("https://a.example/docs/Methods/DELETE", None),
            ("https://a.example/how-to-delete-an-account", None),
            ("https://a.example/search?q=delete", None),
            ("https://a.example/login", None),
            ("https://a.example/", None),
            ("not an address", None),
        ] {
            assert_eq!(address_risk(url), risk, "{url}");
        }
    }
}
