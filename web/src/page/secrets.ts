// Which fields hold a secret. Their values never leave this script.

import { attributeOf, getter } from "./nodes";

export type Sensitivity = "" | "password" | "otp" | "payment" | "file";

const inputValueOf = getter(HTMLInputElement.prototype, "value");
const inputTypeOf = getter(HTMLInputElement.prototype, "type");

// Evidence is looked for in name, id, labels and placeholders, lower-cased, with separators turned
// into spaces. The lists hold how sites spell these fields in the languages that we know of.
const PASSWORD =
  /pass ?(word|wd|phrase|code)|\bpwd\b|\bpasswd\b|\bsecret\b|api ?key|access ?key|private ?key|auth ?token|access ?token|secret ?key|kennwort|passwort|mot de passe|contrase[nñ]a|\bclave\b|\bsenha\b|palavra passe|wachtwoord|l[oö]senord|adgangskode|salasana|has[lł]o|\bheslo\b|jelsz[oó]|parol[aăe]|пароль|şifre|\bsifre\b|parola|mật khẩu|kata sandi|รหัสผ่าน|סיסמ|كلمة (المرور|السر)|密码|密碼|パスワード|暗証番号|비밀번호/;
const ONE_TIME =
  /\botp\b|\btotp\b|\b2fa\b|\bmfa\b|one ?time|two ?factor|(verification|security|authenti(cator|cation)|confirmation|sms|login|access) ?code|\bpin\b|\bpin ?code\b|einmal(code|passwort|kennwort)|best[aä]tigungscode|sicherheitscode|code (de )?(v[eé]rification|confirmation|s[eé]curit[eé])|c[oó]digo de (verificaci[oó]n|seguridad|verifica[cç][aã]o|seguran[cç]a|confirma)|codice (di verifica|otp)|verificatiecode|verifieringskod|kod weryfikacyjny|код (подтверждения|из)|одноразов|doğrulama kodu|验证码|驗證碼|認証コード|確認コード|인증 ?(번호|코드)/;
const PAYMENT =
  /\bcc ?(num|number|csc|cvc|cvv|exp|name)|\bcard ?(num|number|no|cvc|cvv|csc|code|expir|exp|security)|credit ?card|debit ?card|\bcvc2?\b|\bcvv2?\b|\bcsc\b|security code|\biban\b|\bpan\b|exp(iry|iration)? ?(date|month|year)|kartennummer|pr[uü]f(ziffer|nummer)|g[uü]ltig bis|num[eé]ro de (la )?carte|cryptogramme|n[uú]mero de (la )?tarjeta|n[uú]mero do cart[aã]o|numero (della )?carta|kaartnummer|kortnummer|numer karty|номер карты|kart numaras[iı]|卡号|卡號|カード番号|セキュリティコード|카드 ?번호/;

/** Digits that pass the check digit of payment cards, in the lengths that cards have. */
function looksLikeCard(value: string): boolean {
  const digits = value.replace(/[ -]/g, "");
  if (!/^\d{13,19}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let d = digits.charCodeAt(digits.length - 1 - i) - 48;
    if (i % 2 === 1) d = d > 4 ? d * 2 - 9 : d * 2;
    sum += d;
  }
  return sum % 10 === 0;
}

const TEXT_TYPES = new Set(["text", "search", "url", "tel", "email", "password", "number", "month"]);

/**
 * What kind of secret a field holds. `labels` is the text of its labels.
 *
 * Better one field too many than one too few: a wrong guess hides a value from the model and
 * makes the guard ask; the other way round gives a secret away.
 */
export function sensitivityOf(field: Element, labels: string): Sensitivity {
  let value = "";
  let type = "text";
  if (field instanceof HTMLInputElement) {
    type = inputTypeOf(field);
    if (type === "password") return "password";
    if (type === "file") return "file";
    if (!TEXT_TYPES.has(type)) return "";
    value = inputValueOf(field);
  } else if (!(field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement)) {
    return "";
  }
  const complete = (attributeOf(field, "autocomplete") ?? "").toLowerCase();
  if (/\b(current|new)-password\b/.test(complete)) return "password";
  if (/\bone-time-code\b/.test(complete)) return "otp";
  if (/\bcc-(number|csc|exp|exp-month|exp-year)\b/.test(complete)) return "payment";
  // A password field that the page shows in plain text, or text hidden by style alone.
  const hiding = getComputedStyle(field).getPropertyValue("-webkit-text-security");
  if (hiding !== "" && hiding !== "none") return "password";
  if (looksLikeCard(value)) return "payment";
  const said = [
    attributeOf(field, "name"),
    attributeOf(field, "id"),
    attributeOf(field, "placeholder"),
    attributeOf(field, "aria-label"),
    attributeOf(field, "title"),
    labels,
  ]
    .join(" ")
    .slice(0, 600)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[\s_\-[\].:/]+/g, " ");
  if (PASSWORD.test(said) && !/passport|passenger/.test(said)) return "password";
  if (PAYMENT.test(said)) return "payment";
  if (ONE_TIME.test(said)) return "otp";
  return "";
}
