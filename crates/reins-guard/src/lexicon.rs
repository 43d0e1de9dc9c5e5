//! The risk words, by kind and language.
//!
//! One line is one language; patterns are separated by commas. `buy` is a whole word, `purchas*`
//! a beginning, `sign in` words in a row, `^post` only the first word of a caption (for words
//! that are nouns elsewhere), `~删除` a piece of text, for languages written without spaces.
//! Accents, and letters that only differ by a stroke, don't count.

use crate::assess::RiskKind;

/// Captions that hold a risk word and mean something else. They are taken out first.
pub(crate) const HARMLESS: &[&str] = &[
    "order history, order status, order by, order details, order number, order tracking, apply filter, \
     apply filters, clear filter, clear filters, clear search, reset filter, reset filters, check out our, \
     share price, post office, book review, book reviews, book club, follow up",
    "~注文履歴, ~予約一覧, ~公開日, ~更新日, ~주문내역, ~주문 내역, ~구매내역, ~게시판, ~게시물, ~게시글, ~购买记录, ~購買紀錄",
];

/// The words of each kind, one line for each language.
pub(crate) const RISKY: &[(RiskKind, &[&str])] = &[
    (RiskKind::Purchase, PURCHASE),
    (RiskKind::Send, SEND),
    (RiskKind::Delete, DELETE),
    (RiskKind::SignIn, SIGN_IN),
    (RiskKind::Upload, UPLOAD),
    (RiskKind::Download, DOWNLOAD),
    (RiskKind::Subscription, SUBSCRIPTION),
];

const PURCHASE: &[&str] = &[
    "buy, pay, purchas*, ^order, place order, place your order, order now, preorder, pre order, checkout, \
     check out, ^book, book now, ^reserve, ^rent, ^bid, place bid, donate, ^transfer, transfer money, withdraw*, \
     ^deposit, ^invest, add funds, top up, ^sell, redeem, make payment, make a payment, confirm payment",
    "kaufen, zahlen, bezahlen, bestellen, bestellung aufgeben, zahlungspflichtig*, zur kasse, buchen, \
     reservieren, spenden, überweisen, überweisung, mieten, bieten, einzahlen, auszahlen, aufladen, vorbestellen",
    "acheter, achetez, achète, payer, payez, valider le paiement, procéder au paiement, commander, commandez, \
     passer commande, passer la commande, réserver, réservez, faire un don, virement, louer, enchérir, \
     précommander, régler",
    "comprar, compre, compra ahora, pagar, pague, finalizar compra, realizar pedido, hacer pedido, \
     tramitar pedido, pedir, reservar, donar, transferir, alquilar, pujar, encargar, recargar, enviar dinero",
    "finalizar pedido, fazer pedido, encomendar, reserve, doar, alugar, dar lance, licitar, recarregar",
    "compra, acquista, acquistare, comprare, paga, pagare, ordina, ordinare, completa ordine, \
     effettua ordine, prenota, prenotare, dona, donare, trasferisci, bonifico, noleggia, ricarica",
    "kopen, koop, betalen, betaal, bestellen, bestel, afrekenen, boeken, ^boek, reserveren, reserveer, \
     doneren, doneer, overmaken, overboeken, huren, opwaarderen",
    "kup, kupuj*, kupić, zapłać, zapłacić, płacę, zamów, zamawiam, złóż zamówienie, rezerwuj, zarezerwuj, \
     przelej, przelew, wpłać, wypłać, licytuj, do kasy, doładuj, wynajmij",
    "satın al, satın alın, hemen al, öde, ödeme yap, sipariş ver, siparişi tamamla, rezervasyon yap, \
     bağış yap, para gönder, havale, kirala, teklif ver, sepeti onayla",
    "купить, купи, оплатить, перейти к оплате, заплатить, заказать, оформить, сделать заказ, забронировать, \
     бронировать, пожертвовать, перевести деньги, перевод средств, арендовать, пополнить, сделать ставку",
    "купити, придбати, оплатити, сплатити, замовити, оформити, забронювати, пожертвувати, переказати, \
     орендувати, поповнити, зробити ставку",
    "اشتر*, شراء, الشراء, ادفع, دفع, الدفع, اطلب, إتمام الطلب, احجز, حجز, تبرع, تحويل, حول, استئجار, زايد",
    "קנה, קני, קנו, קנייה, קניה, לקנות, רכישה, רכוש, לרכוש, שלם, לשלם, תשלום, לתשלום, הזמן, הזמינו, להזמין, \
     בצע הזמנה, תרום, תרומה, לתרום, העברה, העבר, השכר, לקופה",
    "खरीदें, खरीदे, खरीदना, भुगतान, ऑर्डर, बुक, आरक्षित, दान, ट्रांसफर, पैसे भेजें",
    "~购买, ~購買, ~下单, ~下單, ~付款, ~支付, ~结算, ~結算, ~结账, ~結帳, ~订购, ~訂購, ~预订, ~預訂, ~预定, ~买单, ~充值, ~儲值, \
     ~转账, ~轉帳, ~捐款, ~捐赠, ~租用, ~提现, ~抢购, ~買",
    "~購入, ~買う, ~注文, ~支払, ~決済, ~予約, ~寄付, ~振込, ~送金, ~チャージ, ~入札, ~レジに進む, ~お会計",
    "~구매, ~구입, ~결제, ~주문, ~예약, ~기부, ~송금, ~이체, ~충전, ~입찰, ~대여",
    "köp, betala, beställ, boka, reservera, donera, slutför köp, till kassan, överför, hyr, lägg bud, skänk",
    "køb, betal, bestil, ^book, reserver, doner, til kassen, overfør, lej, afgiv bud",
    "kjøp, bestill, overfør, gi bud, til kassen",
    "osta, maksa, tilaa, varaa, lahjoita, kassalle, siirrä, vuokraa, tee tilaus, huuda",
    "koupit, kupte, zaplatit, objednat, objednávám, dokončit objednávku, rezervovat, darovat, k pokladně, \
     převést, pronajmout, dobít",
    "megveszem, vásárlás, fizetés, megrendel*, foglal*, cumpără, plătește, comandă, rezervă, donează, αγορά, \
     πληρωμή, παραγγελία, κράτηση",
    "mua, thanh toán, đặt hàng, đặt phòng, đặt vé, quyên góp, chuyển tiền, beli, bayar, pesan, donasi, \
     ~ซื้อ, ~ชำระเงิน, ~จ่าย, ~จอง, ~บริจาค, ~โอนเงิน",
];

const SEND: &[&str] = &[
    "send, ^submit, ^post, post comment, post reply, publish, ^reply, ^share, share now, tweet, repost, \
     ^comment, add comment, ^forward, ^invite, ^message, ^apply, apply now, report abuse, report user, ^follow, \
     ^like, ^vote, ^rsvp",
    "senden, absenden, abschicken, versenden, einreichen, veröffentlichen, posten, antworten, teilen, \
     kommentieren, weiterleiten, einladen, bewerben, abstimmen, folgen",
    "envoyer, envoyez, soumettre, publier, publiez, poster, postez, répondre, partager, partagez, commenter, \
     transférer, inviter, postuler, voter",
    "enviar, envía, envíe, mandar, publicar, responder, compartir, comentar, reenviar, invitar, postular*, \
     solicitar, votar",
    "envie, submeter, postar, compartilhar, partilhar, encaminhar, convidar, candidatar*",
    "invia, inviare, pubblica, pubblicare, rispondi, rispondere, condividi, condividere, commenta, inoltra, \
     invita, candidati, vota",
    "verzenden, verzend, verstuur, versturen, indienen, publiceren, publiceer, plaatsen, beantwoorden, \
     antwoorden, delen, doorsturen, uitnodigen, solliciteren, stemmen",
    "wyślij, wysyłam, opublikuj, publikuj, odpowiedz, udostępnij, skomentuj, komentuj, przekaż, zaproś, \
     aplikuj, zagłosuj, głosuj",
    "gönder, gönderin, yayınla, paylaş, yanıtla, cevapla, yorum yap, ilet, davet et, başvur, oy ver",
    "отправить, отправь, послать, опубликовать, ответить, поделиться, комментировать, переслать, пригласить, \
     откликнуться, голосовать, проголосовать, подать заявку, разместить",
    "надіслати, відправити, опублікувати, відповісти, поділитися, коментувати, переслати, запросити, \
     голосувати, подати заявку, розмістити",
    "أرسل, إرسال, انشر, نشر, رد, الرد, شارك, مشاركة, تعليق, علق, إعادة توجيه, دعوة, صوت, تقديم, قدم",
    "שלח, שלחו, שליחה, לשלוח, פרסם, הגב, השב, תגובה, שתף, שתפו, שיתוף, הזמן חברים, הצבע, הגש, הגשה",
    "भेजें, भेजे, भेजो, सबमिट, पोस्ट, प्रकाशित, जवाब दें, उत्तर दें, साझा, शेयर, टिप्पणी, आमंत्रित, वोट, आवेदन करें",
    "~发送, ~發送, ~傳送, ~提交, ~发布, ~發佈, ~發布, ~发表, ~發表, ~回复, ~回覆, ~分享, ~评论, ~評論, ~转发, ~轉發, ~邀请, ~邀請, \
     ~投票, ~申请, ~申請, ~寄出, ~发帖",
    "~送信, ~送る, ~投稿, ~公開, ~返信, ~共有, ~シェア, ~コメントする, ~転送, ~招待, ~応募, ~投票, ~提出, ~申し込, ~申込, \
     ~ツイート, ~ポストする",
    "~보내기, ~전송, ~제출, ~게시, ~답글, ~답장, ~공유, ~전달하기, ~초대, ~지원하기, ~투표, ~신청, ~댓글 등록, ~등록하기, ~발행",
    "skicka, publicera, svara, dela, kommentera, vidarebefordra, bjud in, ansök, rösta",
    "indsend, offentliggør, publicer, ^svar, besvar, ^del, kommenter, videresend, inviter, ansøg, ^stem",
    "send inn, publiser, lähetä, julkaise, vastaa, jaa, kommentoi, välitä eteenpäin, kutsu, äänestä",
    "odeslat, poslat, publikovat, zveřejnit, odpovědět, sdílet, komentovat, přeposlat, pozvat, hlasovat",
    "küldés, elküld*, közzététel, válasz, megosztás, trimite, publică, răspunde, distribuie, αποστολή, \
     δημοσίευση, απάντηση, κοινοποίηση",
    "gửi, đăng bài, trả lời, chia sẻ, bình luận, kirim, posting, balas, bagikan, ~ส่ง, ~โพสต์, ~ตอบกลับ, ~แชร์, \
     ~เผยแพร่",
];

const DELETE: &[&str] = &[
    "delete, deleting, remove, removing, erase, ^discard, destroy, purge, wipe, ^clear, empty trash, empty bin, \
     deactivate, close account, cancel order, cancel booking, cancel reservation, uninstall, ^reset, revoke, \
     ^block, ^ban, unfollow, unfriend, terminate, move to trash",
    "löschen, entfernen, verwerfen, leeren, zurücksetzen, deaktivieren, konto schließen, stornieren, \
     widerrufen, deinstallieren, blockieren, sperren, vernichten",
    "supprimer, supprimez, effacer, retirer, enlever, vider, désactiver, fermer le compte, annuler la commande, \
     annuler la réservation, révoquer, bloquer, désinstaller, réinitialiser",
    "eliminar, elimina, borrar, borra, quitar, suprimir, vaciar, desactivar, cerrar cuenta, cancelar pedido, \
     cancelar reserva, revocar, bloquear, desinstalar, restablecer, descartar",
    "excluir, exclua, apagar, remover, esvaziar, desativar, encerrar conta, revogar, redefinir",
    "eliminare, cancella, cancellare, rimuovi, rimuovere, svuota, disattiva, chiudi account, annulla ordine, \
     annulla prenotazione, revoca, blocca, disinstalla, reimposta, scarta",
    "verwijderen, verwijder, wissen, wis, legen, leegmaken, deactiveren, account sluiten, bestelling annuleren, \
     intrekken, blokkeren, deïnstalleren, resetten",
    "usuń, usuwam, usunąć, skasuj, wyczyść, opróżnij, dezaktywuj, zamknij konto, anuluj zamówienie, \
     anuluj rezerwację, zablokuj, odinstaluj, zresetuj, odrzuć",
    "sil, silin, kaldır, temizle, boşalt, devre dışı bırak, hesabı kapat, siparişi iptal et, \
     rezervasyonu iptal et, engelle, sıfırla",
    "удалить, удали, стереть, очистить, убрать, закрыть аккаунт, деактивировать, отключить, отменить заказ, \
     отменить бронирование, заблокировать, сбросить, отозвать, уничтожить",
    "видалити, видали, стерти, очистити, прибрати, вилучити, деактивувати, скасувати замовлення, \
     скасувати бронювання, заблокувати, скинути, відкликати",
    "احذف, حذف, الحذف, إزالة, أزل, مسح, امسح, إفراغ, تعطيل, إغلاق الحساب, إلغاء الطلب, إلغاء الحجز, حظر, إلغاء التثبيت",
    "מחק, מחיקה, למחוק, מחקו, הסר, הסרה, להסיר, נקה, רוקן, השבת, סגור חשבון, בטל הזמנה, ביטול הזמנה, חסום, אפס",
    "हटाएं, हटाएँ, हटाये, मिटाएं, मिटाएँ, डिलीट, रद्द करें, निष्क्रिय, ब्लॉक, रीसेट",
    "~删除, ~刪除, ~移除, ~清空, ~清除, ~注销, ~註銷, ~取消订单, ~取消訂單, ~取消预订, ~停用, ~卸载, ~拉黑, ~屏蔽, ~撤销, ~重置, \
     ~丢弃",
    "~削除, ~消去, ~取り消す, ~ゴミ箱を空に, ~退会, ~注文をキャンセル, ~予約をキャンセル, ~無効化, ~アンインストール, ~ブロックする, \
     ~リセット, ~破棄, ~消す",
    "~삭제, ~제거, ~지우기, ~비우기, ~탈퇴, ~주문 취소, ~예약 취소, ~비활성화, ~차단, ~초기화, ~폐기",
    "ta bort, radera, avinstallera, töm, inaktivera, avsluta konto, avboka, avbeställ, blockera, återställ, släng",
    "slet, fjern, ryd, deaktiver, luk konto, afbestil, bloker, nulstil, kasser",
    "slett, avslutt konto, avbestill, blokker, tilbakestill",
    "poista, tyhjennä, peruuta tilaus, estä, nollaa, hävitä",
    "smazat, smaž, odstranit, vymazat, vyprázdnit, deaktivovat, zrušit účet, zrušit objednávku, \
     zrušit rezervaci, blokovat, zablokovat, odinstalovat, zahodit",
    "törlés, töröl, eltávolítás, șterge, anulează comanda, διαγραφή, αφαίρεση, κατάργηση",
    "xóa, gỡ bỏ, hủy đơn, hủy đặt, hapus, buang, batalkan pesanan, ~ลบ, ~ล้างข้อมูล, ~ยกเลิกคำสั่งซื้อ",
];

const SIGN_IN: &[&str] = &[
    "sign in, signin, log in, login, sign up, signup, register, create account, create an account, sign out, \
     signout, log out, logout, authoriz*, authoris*, ^allow, ^grant, ^approve, ^accept, ^confirm, i agree, ^agree, \
     ^verify, ^connect, link account, continue with google, continue with apple, continue with facebook, \
     continue with github, continue with microsoft, ^activate, ^enable, ^unlock",
    "anmelden, einloggen, registrieren, konto erstellen, abmelden, ausloggen, autorisieren, erlauben, zulassen, \
     genehmigen, zustimmen, akzeptieren, bestätigen, verifizieren, verbinden, aktivieren, freigeben",
    "se connecter, connexion, connectez, inscrire, inscription, créer un compte, se déconnecter, déconnexion, \
     autoriser, permettre, accorder, approuver, accepter, confirmer, vérifier, activer, valider, identifier",
    "iniciar sesión, inicia sesión, acceder, entrar, ingresar, registrarse, regístrate, crear cuenta, \
     cerrar sesión, autorizar, permitir, conceder, aprobar, aceptar, confirmar, verificar, activar, conectar",
    "iniciar sessão, fazer login, acessar, criar conta, cadastre se, cadastrar, terminar sessão, aprovar, \
     aceitar, ativar",
    "accedi, effettua l accesso, registrati, crea account, crea un account, esci, disconnetti, autorizza, \
     consenti, concedi, approva, accetta, conferma, verifica, attiva, collega",
    "inloggen, aanmelden, registreren, account aanmaken, uitloggen, afmelden, autoriseren, toestaan, \
     goedkeuren, accepteren, bevestigen, verifiëren, activeren, koppelen",
    "zaloguj, logowanie, zarejestruj, rejestracja, utwórz konto, załóż konto, wyloguj, autoryzuj, zezwól, \
     zezwalam, zatwierdź, akceptuj, akceptuję, potwierdź, potwierdzam, zweryfikuj, aktywuj, połącz",
    "giriş yap, oturum aç, kayıt ol, üye ol, hesap oluştur, çıkış yap, oturumu kapat, yetkilendir, izin ver, \
     onayla, kabul et, doğrula, etkinleştir, bağlan",
    "войти, вход, зарегистрироваться, регистрация, создать аккаунт, выйти, выход, авторизовать, \
     авторизоваться, разрешить, предоставить, одобрить, принять, подтвердить, согласен, согласиться, \
     активировать, подключить",
    "увійти, вхід, зареєструватися, реєстрація, створити обліковий запис, вийти, авторизувати, дозволити, \
     надати, схвалити, прийняти, підтвердити, погоджуюся, активувати, підключити",
    "تسجيل الدخول, دخول, الدخول, سجل الدخول, تسجيل, إنشاء حساب, تسجيل الخروج, تفويض, السماح, اسمح, منح, موافقة, أوافق, \
     موافق, قبول, تأكيد, تحقق, تفعيل, ربط",
    "התחבר, התחברות, כניסה, היכנס, הירשם, הרשמה, צור חשבון, התנתק, יציאה, אשר, אישור, הרשה, קבל, מסכים, אמת, \
     הפעל",
    "लॉग इन, लॉगिन, साइन इन, साइन अप, रजिस्टर, पंजीकरण, खाता बनाएं, लॉग आउट, साइन आउट, अनुमति, स्वीकार, स्वीकृत, पुष्टि, \
     सत्यापित, सक्रिय, सहमत",
    "~登录, ~登錄, ~登入, ~注册, ~註冊, ~创建账户, ~登出, ~授权, ~授權, ~允许, ~允許, ~批准, ~同意, ~接受, ~确认, ~確認, ~验证, ~驗證, \
     ~激活, ~启用, ~啟用",
    "~ログイン, ~サインイン, ~ログアウト, ~サインアウト, ~新規登録, ~会員登録, ~アカウント作成, ~許可, ~承認, ~同意, ~承諾, ~認証, \
     ~有効化, ~連携, ~登録する",
    "~로그인, ~로그아웃, ~회원가입, ~가입하기, ~계정 만들기, ~허용, ~승인, ~동의, ~수락, ~확인, ~인증, ~활성화, ~연결하기",
    "logga in, registrera, skapa konto, logga ut, auktorisera, tillåt, godkänn, acceptera, bekräfta, verifiera, \
     aktivera, anslut",
    "log ind, log på, tilmeld, registrer, opret konto, opret bruger, log ud, godkend, tillad, accepter, bekræft, \
     verificer, aktiver, forbind",
    "logg inn, logg på, opprett konto, logg ut, godkjenn, tillat, aksepter, bekreft",
    "kirjaudu, rekisteröidy, luo tili, valtuuta, salli, hyväksy, vahvista, aktivoi, yhdistä",
    "přihlásit, přihlášení, registrovat, registrace, vytvořit účet, odhlásit, autorizovat, povolit, schválit, \
     přijmout, souhlasím, potvrdit, ověřit, aktivovat, propojit",
    "bejelentkezés, belépés, regisztráció, kijelentkezés, engedélyez*, elfogad*, megerősít*, autentificare, \
     conectare, înregistrare, deconectare, autorizează, permite, acceptă, confirmă, σύνδεση, εγγραφή, \
     αποσύνδεση, αποδοχή, επιβεβαίωση, εξουσιοδότηση",
    "đăng nhập, đăng ký, đăng xuất, cho phép, đồng ý, chấp nhận, xác nhận, xác minh, masuk, daftar, keluar, \
     izinkan, setujui, terima, konfirmasi, verifikasi, ~เข้าสู่ระบบ, ~สมัครสมาชิก, ~ลงทะเบียน, ~ออกจากระบบ, ~อนุญาต, ~ยอมรับ, \
     ~ยืนยัน",
];

const UPLOAD: &[&str] = &[
    "upload*, ^attach, add file, choose file, ^import",
    "hochladen, anhängen, datei auswählen, datei hinzufügen",
    "téléverser, téléversez, joindre, choisir un fichier",
    "subir, cargar, adjuntar, seleccionar archivo",
    "carregar, anexar, enviar arquivo",
    "carica, caricare, allega",
    "bijvoegen, bestand kiezen",
    "prześlij, wgraj, załącz",
    "yükle, dosya seç",
    "загрузить, прикрепить",
    "завантажити, прикріпити",
    "رفع, تحميل, إرفاق",
    "העלה, העלאה, צרף",
    "अपलोड, संलग्न",
    "~上传, ~上傳, ~附加文件, ~添加附件",
    "~アップロード, ~添付",
    "~업로드, ~첨부",
    "ladda upp, bifoga, vedhæft, last opp, legg ved, liitä",
    "nahrát, přiložit",
    "feltöltés, csatol*, încarcă, atașează, επισύναψη, μεταφόρτωση",
    "tải lên, đính kèm, unggah, lampirkan, ~อัปโหลด, ~แนบไฟล์",
];

const DOWNLOAD: &[&str] = &[
    "download*, ^install, ^export, save as",
    "herunterladen, installieren, exportieren",
    "télécharger, téléchargez, téléchargement, installer, exporter",
    "descargar, descarga, instalar, exportar",
    "baixar, descarregar",
    "scarica, scaricare, installa, esporta",
    "installeren, exporteren",
    "pobierz, zainstaluj, eksportuj",
    "indir, dışa aktar",
    "скачать, установить, экспорт*",
    "встановити, експорт*",
    "تنزيل, تثبيت",
    "הורד, הורדה, להורדה, התקן",
    "डाउनलोड, इंस्टॉल",
    "~下载, ~下載, ~安装, ~安裝, ~导出",
    "~ダウンロード, ~インストール, ~エクスポート",
    "~다운로드, ~내려받기, ~설치, ~내보내기",
    "ladda ner, ladda ned, installera, exportera, hent, eksporter, last ned, lataa, asenna",
    "stáhnout, instalovat, exportovat",
    "letöltés, telepítés, descarcă, instalează, λήψη, κατέβασ*, εγκατάσταση",
    "tải xuống, tải về, unduh, instal, pasang, ~ดาวน์โหลด, ~ติดตั้ง",
];

const SUBSCRIPTION: &[&str] = &[
    "subscribe, unsubscribe, cancel subscription, cancel my subscription, cancel membership, cancel plan, \
     start trial, start free trial, free trial, ^join, ^upgrade, ^renew",
    "abonnieren, abbestellen, kündigen, verlängern, mitglied werden",
    "abonner, abonnez*, désabonner, résilier, renouveler, essai gratuit, adhérer",
    "suscribir*, suscríbete, darse de baja, dar de baja, cancelar suscripción, renovar, prueba gratis, unirse",
    "assinar, assine, inscrever, cancelar assinatura, cancelar inscrição, teste grátis",
    "abbonati, iscriviti, annulla abbonamento, disiscriviti, disdici, rinnova, prova gratuita",
    "abonneren, abonneer, opzeggen, uitschrijven, verlengen, lid worden",
    "subskrybuj, zapisz się, anuluj subskrypcję, wypisz się, zrezygnuj, odnów, dołącz",
    "abone ol, abonelikten çık, aboneliği iptal et, katıl",
    "подписаться, подписка, отписаться, отменить подписку, продлить, вступить",
    "підписатися, відписатися, скасувати підписку, приєднатися",
    "اشترك, اشتراك, إلغاء الاشتراك, جدد, تجديد, انضم",
    "מנוי, בטל מנוי, ביטול מנוי, הצטרף",
    "सब्सक्राइब, सदस्यता, अनसब्सक्राइब",
    "~订阅, ~訂閱, ~退订, ~退訂, ~续费, ~开通会员, ~加入会员, ~免费试用",
    "~購読, ~登録解除, ~解約, ~定期購入, ~無料体験",
    "~구독, ~해지, ~갱신하기, ~무료 체험",
    "prenumerera, säg upp, förnya, bli medlem",
    "opsig, frameld, forny, bliv medlem, si opp",
    "peru tilaus, irtisano, liity",
    "odebírat, odhlásit odběr, předplatit, zrušit předplatné, prodloužit",
    "feliratkozás, leiratkozás, előfizetés, abonează, dezabonează, συνδρομή",
    "hủy đăng ký, berlangganan, langganan, ~สมัครรับ, ~ยกเลิกการสมัคร",
];

/// Whole segments of a path, keys or values of a query that change something when the address
/// is opened, as the links of e-mails and of old sites do.
pub(crate) const ADDRESS: &[(RiskKind, &[&str])] = &[
    (
        RiskKind::SignIn,
        &["logout", "log-out", "log_out", "logoff", "signout", "sign-out", "sign_out"],
    ),
    (RiskKind::Subscription, &["unsubscribe", "opt-out", "optout"]),
];

/// The same for words that are also titles of pages. They count where the address names a thing
/// to do it to: a number somewhere in the path, or a query.
pub(crate) const ADDRESS_WITH_OBJECT: &[(RiskKind, &[&str])] = &[
    (RiskKind::Delete, &["delete", "remove", "destroy", "erase", "purge", "deactivate"]),
    (
        RiskKind::SignIn,
        &["confirm", "verify", "activate", "approve", "authorize", "authorise", "accept"],
    ),
    (RiskKind::Send, &["vote", "upvote", "downvote", "like", "publish"]),
    (RiskKind::Purchase, &["purchase", "transfer"]),
];

/// Keys of a query whose value names what to do.
pub(crate) const ADDRESS_KEYS: &[&str] =
    &["action", "act", "do", "op", "operation", "cmd", "command", "method", "task", "mode"];
