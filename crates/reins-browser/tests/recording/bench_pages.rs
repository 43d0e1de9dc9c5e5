//! Pages like those that Reins is measured with (bench/peers/pages.py), small enough for a test.

use crate::support::Page;
use std::fmt::Write;

/// What is done on each before its end; `0` is nothing.
pub(crate) const ACTS: &[(&str, &str)] = &[
    ("/trivial", "0"),
    (
        "/form",
        "document.querySelectorAll('input[type=text]').forEach((f,n)=>{f.value='typed '+n;f.dispatchEvent(new Event('input',{bubbles:true}))});document.querySelector('[type=checkbox]').click();0",
    ),
    ("/links", "0"),
    ("/table", "sort.click();0"),
    (
        "/spa",
        "new Promise(r=>{add.click();add.click();setTimeout(()=>{document.querySelector('li').remove();r(0)},50)})",
    ),
    ("/shadow", "new Promise(r=>setTimeout(()=>r(0),400))"),
    (
        "/frames",
        "new Promise(r=>setTimeout(()=>{frames[0].document.body.append('CHANGED IN THE FRAME');r(0)},600))",
    ),
    ("/hidden", "0"),
    ("/late", "new Promise(r=>setTimeout(()=>r(0),700))"),
    ("/busy", "new Promise(r=>setTimeout(()=>{clearInterval(timer);r(0)},700))"),
    (
        "/moved",
        "new Promise(r=>{let n=0;const go=()=>{if(n++>30)return r(0);for(let i=0;i<20;i++){const k=list.children;list.insertBefore(k[(i*7+n)%k.length],k[(i*3)%k.length])}setTimeout(go,5)};go()})",
    ),
    ("/dialog", "d.showModal();0"),
    ("/styled", "new Promise(r=>setTimeout(()=>r(0),300))"),
];

pub(crate) fn all() -> Vec<(&'static str, Page)> {
    let page = |path, body: &str| (path, Page::html(body));
    let mut form = String::from("<h1>Form</h1><form>");
    for n in 0..60 {
        let _ = write!(
            form,
            "<p><label>Field {n} <input type=text name=f{n} placeholder='Value {n}'></label>"
        );
    }
    form.push_str("<label><input type=checkbox> Agree</label><select><option>One<option selected>Two</select><button type=button>Save</button></form>");
    let mut links = String::from("<h1>Links</h1>");
    for n in 0..1_500 {
        let _ = write!(links, "<p>Line {n}: <a href='/l/{n}?token={n}'>Link number {n}</a>");
    }
    let mut table = String::from(
        "<button id=sort onclick=\"const b=t.tBodies[0];[...b.rows].reverse().forEach(r=>b.append(r))\">Sort</button><table id=t><tbody>",
    );
    for n in 0..600 {
        let _ =
            write!(table, "<tr><td>{n}<td>Name {n}<td>{}<td><b>Cell</b> &amp; more", n * 37 % 101);
    }
    let spa = "<h1>Things</h1><ul id=ul></ul><button id=add>Add</button><script>let items=['first','second'];\
        const draw=()=>{ul.innerHTML='';for(const i of items){const li=document.createElement('li');li.innerHTML='<b>'+i+'</b> <span>thing</span>';ul.append(li)}};\
        draw();add.onclick=()=>{items.push('added '+items.length);draw();history.pushState(0,'','/spa?'+items.length)}</script>";
    let shadow = "<h1>Shadow</h1><x-card><span slot=title>Slotted</span>light</x-card><x-card></x-card><script>customElements.define('x-card',class extends HTMLElement{\
        connectedCallback(){const r=this.attachShadow({mode:'open'});r.innerHTML='<style>b{color:red}</style><b>In the card</b><slot name=title></slot><x-inner></x-inner>';setTimeout(()=>r.querySelector('b').append(' changed'),100)}});\
        customElements.define('x-inner',class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'open'}).innerHTML='<i>Inner</i>'}})</script>";
    let frames = "<h1>Frames</h1><iframe src=/leaf></iframe><iframe srcdoc='<p>From srcdoc</p>'></iframe><iframe id=w></iframe><script>w.contentDocument.write('<p>Written</p>');w.contentDocument.close()</script>";
    let hidden = "<h1>Hidden</h1><p style=display:none>Not displayed</p><p style=visibility:hidden>Not visible</p><details><summary>Sum</summary>Closed</details><template><p>Never</p></template><noscript>No script</noscript>";
    let late = "<h1>Late</h1><div id=o></div><script>for(let i=0;i<20;i++)setTimeout(()=>{o.insertAdjacentHTML(i%2?'afterbegin':'beforeend','<p>Late <b>'+i+'</b></p>')},i*25)</script>";
    let busy = "<h1>Busy</h1><output id=o>0</output><div id=d></div><script>let n=0;const timer=setInterval(()=>{o.textContent=++n;d.style.width=n+'px';d.title='t'+n;if(n%5==0)d.innerHTML='<p>'+n+'</p>'.repeat(3)},5)</script>";
    let mut moved = String::from("<h1>Moved</h1><ol id=list>");
    for n in 0..60 {
        let _ = write!(moved, "<li>Item <em>{n}</em> <a href=#>go</a></li>");
    }
    let dialog = "<h1>Dialog</h1><dialog id=d><p>Modal text</p><form method=dialog><button>OK</button></form></dialog><p>Behind 1 &lt; 2 &amp; 3</p>";
    let styled = "<h1>Styled</h1><p class=a>Text</p><script>const s=document.createElement('style');document.head.append(s);s.sheet.insertRule('.a{color:blue}');\
        const c=new CSSStyleSheet();c.replaceSync('.a{font-weight:bold}');document.adoptedStyleSheets=[c];</script><svg width=50 height=20><text x=0 y=15>Drawn</text></svg><math><mi>x</mi><mo>+</mo><mn>1</mn></math>";
    vec![
        page("/trivial", "<h1>Hello</h1><p>Trivial page</p><button>Press</button>"),
        page("/form", &form),
        page("/links", &links),
        page("/table", &table),
        page("/spa", spa),
        page("/shadow", shadow),
        page("/frames", frames),
        page("/leaf", "<p>Leaf text</p>"),
        page("/hidden", hidden),
        page("/late", late),
        page("/busy", busy),
        page("/moved", &moved),
        page("/dialog", dialog),
        page("/styled", styled),
    ]
}
