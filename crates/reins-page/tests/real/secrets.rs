//! R-131: secret values never leave the page script.

use crate::world::World;
use reins_core::Sensitivity;
use reins_page::CaptureOptions;

const FIELDS: &[(&str, Sensitivity)] = &[
    (r#"type=password"#, Sensitivity::Password),
    (r#"type=text autocomplete="section-a new-password""#, Sensitivity::Password),
    (r#"type=text style="-webkit-text-security:disc""#, Sensitivity::Password),
    (r#"type=text name=userPassword"#, Sensitivity::Password),
    (r#"type=text name=kennwort"#, Sensitivity::Password),
    (r#"type=text placeholder="Contraseña""#, Sensitivity::Password),
    (r#"type=text aria-label="Mot de passe""#, Sensitivity::Password),
    (r#"type=text aria-label="パスワード""#, Sensitivity::Password),
    (r#"type=text aria-label="Пароль""#, Sensitivity::Password),
    (r#"type=text name=api_key"#, Sensitivity::Password),
    (r#"type=text autocomplete=one-time-code"#, Sensitivity::OneTimeCode),
    (r#"type=tel name=otp"#, Sensitivity::OneTimeCode),
    (r#"type=text aria-label="Verification code""#, Sensitivity::OneTimeCode),
    (r#"type=text aria-label="Bestätigungscode""#, Sensitivity::OneTimeCode),
    (r#"type=text aria-label="验证码""#, Sensitivity::OneTimeCode),
    (r#"type=text autocomplete="billing cc-number""#, Sensitivity::Payment),
    (r#"type=text name=cardNumber"#, Sensitivity::Payment),
    (r#"type=text name=cvc"#, Sensitivity::Payment),
    (r#"type=text aria-label="Kartennummer""#, Sensitivity::Payment),
    (r#"type=text aria-label="Número de tarjeta""#, Sensitivity::Payment),
    (r#"type=text aria-label="カード番号""#, Sensitivity::Payment),
    (r#"type=text name=iban"#, Sensitivity::Payment),
];

#[tokio::test]
async fn r131_secret_values_stay_in_the_page() {
    let fields: String = FIELDS
        .iter()
        .enumerate()
        .map(|(n, (attributes, _))| format!("<p><input id=f{n} {attributes} value=hunter2></p>"))
        .collect();
    let world = World::open(&format!(
        r#"{fields}
        <label>PIN <input id=label value=hunter2></label>
        <input id=plain value="4111 1111 1111 1111">
        <textarea name=secret>hunter2</textarea>
        <select name=card-expiry-month><option>hunter2</select>
        <p>Order <input id=order aria-label="Order number" value=A-7></p>
        <p><input id=passport aria-label="Passport number" value=P-8></p>"#
    ))
    .await;
    let raw = world.raw(&CaptureOptions::full()).await;
    assert!(!raw.contains("4111"), "{raw}");
    // The one option of the select is what it offers, not what was entered.
    assert_eq!(raw.matches("hunter2").count(), 1, "{raw}");
    assert!(raw.contains("A-7") && raw.contains("P-8"), "{raw}");
    for (n, (attributes, sensitivity)) in FIELDS.iter().enumerate() {
        let record = world.record(&format!("#f{n}")).await;
        assert_eq!(record.sensitivity, *sensitivity, "{attributes}");
        assert!(!format!("{record:?}").contains("hunter2"), "{record:?}");
    }
    assert_eq!(world.record("#label").await.sensitivity, Sensitivity::OneTimeCode);
    assert_eq!(world.record("#plain").await.sensitivity, Sensitivity::Payment);
    assert_eq!(world.record("#order").await.sensitivity, Sensitivity::None);
    assert_eq!(world.record("#passport").await.sensitivity, Sensitivity::None);
}

/// A name made of a secret's value would give it away.
#[tokio::test]
async fn r131_names_do_not_hold_secret_values() {
    let world = World::open(
        r#"<button>Reset <input type=password aria-label=Password value=hunter2></button>
        <label>Code <input type=checkbox> for <input name=otp value=123456></label>"#,
    )
    .await;
    let raw = world.raw(&CaptureOptions::full()).await;
    assert!(!raw.contains("hunter2") && !raw.contains("123456"), "{raw}");
}
