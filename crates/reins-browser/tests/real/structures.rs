//! Structures of ordinary pages, reduced to what they load from where: script, style and font
//! hosts, pictures, measuring, payment frames, chat, maps, films, sign-in. What a click needs must arrive,
//! while everything is armed (R-221: no false refusals).

use crate::support::{LONG, Page, World, done};
use reins_core::Action;

/// A page, and what its click has to bring. `{x}` is a site of its own for each letter group.
struct Structure {
    name: &'static str,
    page: &'static str,
    needed: &'static [&'static str],
}

const STRUCTURES: &[Structure] = &[
    Structure {
        name: "library from a script host that fetches its own data later",
        page: "<script src={cdn}/lib.js></script><button onclick=\"fetch('{cdn}/needed-a',{mode:'no-cors'})\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "style sheet host with fonts from a second host",
        page: "<link rel=stylesheet href={style}/fonts.css><link rel=preconnect href={font} crossorigin>\
            <button onclick=\"new FontFace('b','url({font}/needed-a)').load().catch(()=>0)\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "measuring script that reports a click by picture and by beacon",
        page: "<script async src={tags}/tag.js></script><button onclick=\"new Image().src='{tags}/needed-a';navigator.sendBeacon('{tags}/needed-b','x')\">Go</button>",
        needed: &["/needed-a", "/needed-b"],
    },
    Structure {
        name: "payment frame that asks its own server when the shop's button is pressed",
        page: "<iframe id=p src={pay}/frame></iframe><button onclick=\"p.contentWindow.postMessage('pay','*')\">Go</button>",
        needed: &["/needed-frame"],
    },
    Structure {
        name: "payment script that opens its frame on the click",
        page: "<script src={pay}/pay.js></script><button onclick=\"document.body.insertAdjacentHTML('beforeend','<iframe src={pay}/needed-a></iframe>')\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "interface on another host of the same site",
        page: "<button onclick=\"fetch('{own-api}/needed-a',{method:'POST',mode:'no-cors',body:'q'})\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "gallery from a picture host that the page is connected to beforehand",
        page: "<link rel=preconnect href={img}><div id=g></div><button onclick=\"g.innerHTML='<img src={img}/needed-a>'\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "pictures loaded when they are scrolled to",
        page: "<img src={img}/first.png><button onclick=\"document.getElementById('l').scrollIntoView()\">Go</button><div style=height:9000px></div><img id=l loading=lazy src={img}/needed-a width=9 height=9>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "picture set with several sources",
        page: "<picture><source media='(min-width:1px)' srcset={img}/first.png><img id=i src={img}/first.png></picture><button onclick=\"document.querySelector('source').srcset='{img}/needed-a'\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "map that is inserted on the click, its host looked up beforehand",
        page: "<link rel=dns-prefetch href={map}><div id=m></div><button onclick=\"m.innerHTML='<iframe src={map}/needed-a></iframe>'\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "film behind its first picture",
        page: "<div id=v><img src={film}/first.png></div><button onclick=\"v.innerHTML='<iframe src={film}/needed-a allow=autoplay></iframe>'\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "film element with its file on a media host",
        page: "<video preload=none poster={film}/first.png id=v><source src={film}/needed-a type=video/mp4></video><button onclick=\"v.load();v.play().catch(()=>0)\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "check against robots from two hosts, both met at the start",
        page: "<script src={check}/api.js></script><script src={static}/check.js></script><button onclick=\"document.body.insertAdjacentHTML('beforeend','<iframe src={check}/needed-a></iframe>');fetch('{static}/needed-b',{mode:'no-cors'})\">Go</button>",
        needed: &["/needed-a", "/needed-b"],
    },
    Structure {
        name: "parts of an application fetched from its script host",
        page: "<script type=module src={cdn}/lib.js></script><button onclick=\"import('{cdn}/needed-a').catch(()=>0)\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "chat that opens a frame of the host its script came from",
        page: "<script async src={chat}/widget.js></script><button onclick=\"document.body.insertAdjacentHTML('beforeend','<iframe src={chat}/needed-a></iframe>')\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "experiment script that was refused nothing before and asks again",
        page: "<script>fetch('{test}/first',{mode:'no-cors'})</script><button onclick=\"fetch('{test}/needed-a',{mode:'no-cors'})\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "search that asks its own server as one types",
        page: "<input id=q><button onclick=\"fetch('/needed-a?q='+q.value)\">Go</button>",
        needed: &["/needed-a?q="],
    },
    Structure {
        name: "server events of its own host",
        page: "<button onclick=\"new EventSource('/needed-a')\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "advertisement frames around a page that fetches for itself",
        page: "<iframe src={ads}/frame></iframe><iframe src={ads2}/frame></iframe><button onclick=\"fetch('/needed-a')\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "pictures as style backgrounds from the picture host",
        page: "<div id=d style='background:url({img}/first.png)'>x</div><button onclick=\"d.style.background='url({img}/needed-a)'\">Go</button>",
        needed: &["/needed-a"],
    },
    Structure {
        name: "shared sign-in frame that says who is there",
        page: "<iframe id=s src={login}/frame hidden></iframe><button onclick=\"s.contentWindow.postMessage('who','*');fetch('{login}/needed-a',{mode:'no-cors',credentials:'include'})\">Go</button>",
        needed: &["/needed-a"],
    },
];

/// A frame of a service: it asks its own server when it is spoken to.
const FRAME: &str = "<p>Service</p><script>onmessage=()=>fetch('/needed-frame')</script>";

#[tokio::test]
async fn r221_ordinary_pages_get_what_their_clicks_need() {
    let world = World::start([("/frame", Page::html(FRAME))]).await;
    let script = || Page::raw("text/javascript", "/* a library */");
    for path in ["/lib.js", "/tag.js", "/pay.js", "/api.js", "/check.js", "/widget.js"] {
        world.site.set(path, script());
    }
    for path in ["/first.png", "/first", "/needed-frame", "/fonts.css"] {
        world.site.set(path, Page::raw("text/plain", "x"));
    }
    let port = world.site.port();
    let mut missing = Vec::new();
    for (nth, structure) in STRUCTURES.iter().enumerate() {
        // Paths of its own: what another one's click brought must not count.
        let mut page = structure.page.replace("/needed", &format!("/{nth}/needed"));
        for path in ["/needed-a", "/needed-b"] {
            world.site.set(&format!("/{nth}{path}"), script());
        }
        while let Some(at) = page.find("{") {
            let Some(end) = page[at..].find('}').map(|end| at + end) else { break };
            let word = &page[at + 1..end];
            if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                break;
            }
            let host = match word {
                "own-api" => format!("api.shop{nth}.localhost"),
                word => format!("{word}{nth}.localhost"),
            };
            page = page.replace(&format!("{{{word}}}"), &format!("http://{host}:{port}"));
        }
        world.site.set("/", Page::html(&page));
        let url = format!("http://shop{nth}.localhost:{port}/");
        done(&world.act_guarded(Action::Navigate { tab: world.tab.clone(), url }).await);
        let acted = world.click_guarded("Go").await;
        done(&acted);
        for needed in structure.needed {
            let path = match *needed {
                "/needed-frame" => needed.to_string(),
                _ => format!("/{nth}{needed}"),
            };
            if !world.site.wait_for(LONG / 3, |seen| seen.path.starts_with(&path)).await {
                missing.push(format!("{}: {needed} {:?}", structure.name, acted.effects.refused));
            }
        }
    }
    assert!(missing.is_empty(), "{} refused:\n{}", missing.len(), missing.join("\n"));
}
