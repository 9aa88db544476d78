//! A TCP proxy before RabbitMQ that can go away or fall silent.
//!
//! The rule: a silent proxy keeps every connection open and moves no byte, as a stopped or
//! unplugged peer would.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mood {
    Passing,
    Silent,
    Away,
}

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    mood: watch::Sender<Mood>,
}

impl Proxy {
    pub(crate) async fn start(target: String, mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (mood, moods) = watch::channel(mood);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *moods.borrow() != Mood::Away {
                    tokio::spawn(serve(client, target.clone(), moods.clone()));
                }
            }
        });
        Self { address, mood }
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }
}

/// A connection that met silence stays silent for good: its bytes are lost, as by a dead peer.
async fn serve(mut client: TcpStream, target: String, mut moods: watch::Receiver<Mood>) {
    if *moods.borrow() == Mood::Passing {
        let Ok(mut server) = TcpStream::connect(target).await else {
            return;
        };
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            _ = moods.wait_for(|mood| *mood != Mood::Passing) => {}
        }
        swallow(client, &mut moods).await;
        let _ = server.shutdown().await;
    } else {
        swallow(client, &mut moods).await;
    }
}

async fn swallow(mut client: TcpStream, moods: &mut watch::Receiver<Mood>) {
    let mut lost = [0; 1024];
    loop {
        tokio::select! {
            read = client.read(&mut lost) => if !matches!(read, Ok(1..)) { return },
            _ = moods.wait_for(|mood| *mood == Mood::Away) => return,
        }
    }
}
