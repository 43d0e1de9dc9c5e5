//! Elements that only a script's listener makes clickable.

use crate::support::{Page, World, done};

const PAGE: &str = r#"<h1>Board</h1><ul id=list><li>First</li><li>Second</li></ul>
<table><tr><td id=a>A1</td><td>A2</td></tr></table>
<svg width=100 height=40><circle cx=20 cy=20 r=10></circle><rect x=50 y=10 width=20 height=20></rect></svg>
<a id=anchor>Bare anchor</a> <div id=closed></div> <p>Only text</p>
<div id=all><p>Delegated</p><button>Inner</button></div>
<iframe srcdoc="<span>In a frame</span><script>document.querySelector('span').addEventListener('click',()=>parent.hit('frame'))</script>"></iframe>
<script>

document.addEventListener('click',()=>{});document.body.addEventListener('mousedown',()=>{});
for(const li of document.querySelectorAll('li'))li.addEventListener('click',()=>hit(li.textContent));
document.getElementById('a').onclick=()=>hit('cell');
document.querySelector('circle').addEventListener('mousedown',()=>hit('circle'));
document.getElementById('anchor').addEventListener('click',()=>hit('anchor'));
document.getElementById('all').addEventListener('click',()=>hit('all'));
const r=document.getElementById('closed').attachShadow({mode:'closed'});r.innerHTML='<span>In a closed root</span>';
r.querySelector('span').addEventListener('click',()=>hit('closed'));
document.querySelector('button').addEventListener('click',()=>{
  const more=document.createElement('li');more.textContent='Third';more.onclick=()=>hit('third');
  document.getElementById('list').append(more);
});
</script>"#;

#[tokio::test]
async fn what_listens_for_clicks_gets_a_ref_and_can_be_clicked() {
    let world = World::start([("/", Page::html(PAGE))]).await;
    done(&world.go("/").await);
    let text = world.text().await;
    for name in ["First", "Second", "A1", "Bare anchor", "In a closed root", "In a frame"] {
        assert!(text.contains(&format!("clickable \"{name}\" [ref=")), "{name} in {text}");
    }
    for plain in ["A2", "Only text", "Delegated", "Board"] {
        assert!(!text.contains(&format!("clickable \"{plain}\"")), "{plain} in {text}");
    }
    // The circle is the one without a name; the rectangle next to it does not listen.
    assert_eq!(text.matches("clickable [ref=").count(), 1, "{text}");
    for (name, key) in [("Second", "Second"), ("A1", "cell"), ("Bare anchor", "anchor")] {
        done(&world.click(name).await);
        assert!(world.hit(key).await, "{name}");
    }
    for (name, key) in [("In a closed root", "closed"), ("In a frame", "frame")] {
        done(&world.click(name).await);
        assert!(world.hit(key).await, "{name}");
    }
}

#[tokio::test]
async fn what_comes_later_and_listens_gets_a_ref_too() {
    let world = World::start([("/", Page::html(PAGE))]).await;
    done(&world.go("/").await);
    assert!(!world.text().await.contains("Third"));
    done(&world.click("Inner").await);
    let text = world.text().await;
    assert!(text.contains("clickable \"Third\" [ref="), "{text}");
    done(&world.click("Third").await);
    assert!(world.hit("third").await);
}
