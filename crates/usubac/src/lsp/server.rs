//! The loop over messages.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use lsp_server::{Connection, ErrorCode, Message, Response};
use serde::Serialize;
use serde_json::Value;
use usuba_ide::Analysis;
use usuba_ide::lines::Place;

use super::answers::{self, Context};
use super::buffers::{Buffers, name, path};
use super::costs::{Job, Worker};
use super::options::Options;
use super::protocol::*;
use crate::Failure;

/// How long the server waits for another edit before it analyses.
const PAUSE: Duration = Duration::from_millis(5);

/// A request that is not answered by the loop, or cannot be answered.
enum Unanswered {
    /// Another thread answers.
    Later,
    Failed(ErrorCode, String),
}

struct Server<'a> {
    connection: &'a Connection,
    worker: Worker,
    options: Options,
    workspace: Vec<PathBuf>,
    buffers: Buffers,
    analyses: BTreeMap<String, Analysis>,
    /// Open files whose analysis is older than their text.
    stale: BTreeSet<String>,
    shut_down: bool,
}

/// Greets a client and serves it.
pub fn serve(connection: Connection) -> Result<(), Failure> {
    let gone = |error: lsp_server::ProtocolError| match error.channel_is_disconnected() {
        true => Failure::program("standard input ended before an editor said `initialized`"),
        false => Failure::program(error.to_string()),
    };
    let (id, params) = connection.initialize_start().map_err(gone)?;
    let params: InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let text = format!("cannot read the parameters of `initialize`: {error}");
            let code = ErrorCode::InvalidParams as i32;
            let _ = connection.sender.send(Response::new_err(id, code, text.clone()).into());
            return Err(Failure::program(text));
        }
    };
    let info = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "usubac", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, info).map_err(gone)?;
    let sender = connection.sender.clone();
    // A client that is gone needs no answer.
    let worker = Worker::new(move |message| drop(sender.send(message)))?;
    let mut server = Server {
        connection: &connection,
        worker,
        options: Options::default(),
        workspace: folders(&params),
        buffers: Buffers::default(),
        analyses: BTreeMap::new(),
        stale: BTreeSet::new(),
        shut_down: false,
    };
    let shows_texts = params.shows_texts();
    server.configure(params.initialization_options);
    server.options.explain |= shows_texts;
    server.run();
    let Server { worker, shut_down, .. } = server;
    worker.finish();
    match shut_down {
        true => Ok(()),
        false => Err(Failure::program("the editor is gone without a `shutdown` request")),
    }
}

fn capabilities() -> ServerCapabilities {
    let pages = TextDocumentContentOptions { schemes: vec![PAGES.to_string()] };
    ServerCapabilities {
        text_document_sync: Some(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::Incremental),
                ..TextDocumentSyncOptions::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions::default()),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        code_action_provider: Some(true.into()),
        document_formatting_provider: Some(true.into()),
        rename_provider: Some(
            RenameOptions { prepare_provider: Some(true), ..RenameOptions::default() }.into(),
        ),
        inlay_hint_provider: Some(true.into()),
        semantic_tokens_provider: Some(semantic_tokens_options().into()),
        workspace: Some(WorkspaceOptions {
            text_document_content: Some(pages.into()),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// The folders of the workspace.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = params.folders().filter_map(|uri| path(&uri.0)).collect();
    folders.sort();
    folders.dedup();
    folders
}

impl Server<'_> {
    /// Handles messages until the client leaves.
    fn run(&mut self) {
        loop {
            let receiver = &self.connection.receiver;
            let message = match self.stale.is_empty() {
                true => receiver.recv().ok(),
                false => match receiver.recv_timeout(PAUSE) {
                    Err(error) if error.is_timeout() => {
                        self.refresh();
                        continue;
                    }
                    message => message.ok(),
                },
            };
            match message {
                None => return,
                Some(Message::Notification(n)) if n.method == "exit" => return,
                Some(Message::Notification(n)) => self.notified(&n.method, n.params),
                Some(Message::Request(request)) => self.request(request),
                Some(Message::Response(_)) => {}
            }
        }
    }

    fn send(&self, message: Message) {
        // The loop ends when the client is gone.
        let _ = self.connection.sender.send(message);
    }

    fn notify<N: Notification>(&self, params: &N::Params) {
        let method: String = N::METHOD.into();
        self.send(lsp_server::Notification::new(method, params).into());
    }

    fn warn(&self, text: &str) {
        let message = format!("usubac: {text}");
        self.notify::<ShowMessageNotification>(&ShowMessageParams {
            kind: MessageType::Warning,
            message,
        });
    }

    /// Reads settings; wrong ones leave the earlier ones as they are.
    fn configure(&mut self, value: Value) {
        match Options::read(value) {
            Ok(options) => {
                let explain = self.options.explain;
                self.options = options;
                self.options.explain |= explain;
                let relative = self.options.folders.clone();
                let root = self.workspace.first().cloned().unwrap_or_default();
                self.buffers.folders = relative.iter().map(|folder| root.join(folder)).collect();
                self.all_stale();
            }
            Err(why) => self.warn(&format!("settings: {why}")),
        }
    }

    fn all_stale(&mut self) {
        self.worker.edited();
        self.stale.extend(self.buffers.names());
    }

    /// Marks a file that has changed, and the programs that include it.
    fn changed(&mut self, uri: &Uri) {
        self.worker.edited();
        let changed = name(&uri.0);
        let depends = |analysis: &Analysis| {
            analysis.file(&changed).is_some() || analysis.includes.iter().any(|i| i.file.is_none())
        };
        let names = self.analyses.iter().filter(|(_, analysis)| depends(analysis));
        self.stale.extend(names.map(|(name, _)| name.clone()));
        if self.buffers.get(&changed).is_some() {
            self.stale.insert(changed);
        } else {
            self.stale.remove(&changed);
            self.analyses.remove(&changed);
        }
    }

    fn notified(&mut self, method: &str, params: Value) {
        if let Err(why) = self.notification(method, params) {
            self.warn(&format!("cannot read `{method}`: {why}"));
        }
    }

    fn notification(&mut self, method: &str, params: Value) -> Result<(), serde_json::Error> {
        match NotificationMethod::from(method) {
            NotificationMethod::TextDocumentDidOpen => {
                let file = read::<DidOpenTextDocumentNotification>(params)?.text_document;
                self.buffers.open(&file.uri.0, file.version, &file.text);
                self.changed(&file.uri);
            }
            NotificationMethod::TextDocumentDidChange => {
                let params = read::<DidChangeTextDocumentNotification>(params)?;
                let version = params.text_document.version;
                let uri = params.text_document.text_document_identifier.uri;
                for change in params.content_changes {
                    let (range, text) = changed_range(change);
                    self.buffers.edit(&uri.0, version, range, &text);
                }
                self.changed(&uri);
            }
            NotificationMethod::TextDocumentDidClose => {
                let uri = read::<DidCloseTextDocumentNotification>(params)?.text_document.uri;
                self.buffers.close(&uri.0);
                self.changed(&uri);
                let (version, diagnostics) = (None, Vec::new());
                let none = PublishDiagnosticsParams { uri, version, diagnostics };
                self.notify::<PublishDiagnosticsNotification>(&none);
            }
            NotificationMethod::WorkspaceDidChangeConfiguration => {
                let mut params = read::<DidChangeConfigurationNotification>(params)?;
                self.configure(params.settings["usuba"].take());
            }
            NotificationMethod::WorkspaceDidChangeWatchedFiles => self.all_stale(),
            _ => {}
        }
        Ok(())
    }

    /// Analyses all stale files and publishes their findings.
    fn refresh(&mut self) {
        while let Some(name) = self.stale.pop_first() {
            let Some(buffer) = self.buffers.get(&name) else { continue };
            let mut loader = &self.buffers;
            let settings = &self.options.settings;
            let analyse = || Analysis::new(&name, &buffer.text, &mut loader, settings);
            // The message is written to standard error; the file keeps its former analysis.
            let Ok(analysis) = catch_unwind(AssertUnwindSafe(analyse)) else { continue };
            let places = Places::new(&analysis.sources, &self.buffers);
            let shown = analysis.shown();
            let pages = self.options.explain;
            let found = shown.iter().map(|finding| places.diagnostic(finding, pages));
            self.notify::<PublishDiagnosticsNotification>(&PublishDiagnosticsParams {
                uri: Uri(buffer.uri.clone()),
                version: Some(buffer.version),
                diagnostics: found.collect(),
            });
            self.analyses.insert(name, analysis);
        }
    }

    fn request(&mut self, request: lsp_server::Request) {
        self.refresh();
        let lsp_server::Request { id, method, params } = request;
        let answer = || self.answer(&id, &method, params);
        let answer = catch_unwind(AssertUnwindSafe(answer));
        let fault = || {
            let text = format!("`{method}`: the compiler has a fault");
            Unanswered::Failed(ErrorCode::InternalError, text)
        };
        let response = match answer.unwrap_or_else(|_| Err(fault())) {
            Ok(value) => Response::new_ok(id, value),
            Err(Unanswered::Later) => return,
            Err(Unanswered::Failed(code, text)) => Response::new_err(id, code as i32, text),
        };
        if method == "shutdown" {
            self.shut_down = true;
        }
        self.send(response.into());
    }

    fn answer(
        &self,
        id: &lsp_server::RequestId,
        method: &str,
        params: Value,
    ) -> Result<Value, Unanswered> {
        let context =
            Context { buffers: &self.buffers, workspace: &self.workspace, all: &self.analyses };
        let failed = |why: String| Unanswered::Failed(ErrorCode::InvalidParams, why);
        match RequestMethod::from(method) {
            RequestMethod::Shutdown => Ok(Value::Null),
            RequestMethod::TextDocumentHover => {
                let params = asked::<HoverRequest>(params)?;
                value(&context.hover(&params.text_document_position_params))
            }
            RequestMethod::TextDocumentDefinition => {
                let params = asked::<DefinitionRequest>(params)?;
                value(&context.definition(&params.text_document_position_params))
            }
            RequestMethod::TextDocumentDocumentHighlight => {
                let params = asked::<DocumentHighlightRequest>(params)?;
                value(&context.highlights(&params.text_document_position_params))
            }
            RequestMethod::TextDocumentReferences => {
                let params = asked::<ReferencesRequest>(params)?;
                let at = &params.text_document_position_params;
                value(&context.references(at, params.context.include_declaration))
            }
            RequestMethod::TextDocumentPrepareRename => {
                let params = asked::<PrepareRenameRequest>(params)?;
                value(&context.prepare_rename(&params.text_document_position_params))
            }
            RequestMethod::TextDocumentRename => {
                let params = asked::<RenameRequest>(params)?;
                let at = &params.text_document_position_params;
                value(&context.rename(at, &params.new_name).map_err(failed)?)
            }
            RequestMethod::TextDocumentDocumentSymbol => {
                let params = asked::<DocumentSymbolRequest>(params)?;
                value(&context.symbols(&params.text_document.uri))
            }
            RequestMethod::TextDocumentSemanticTokensFull => {
                let params = asked::<SemanticTokensRequest>(params)?;
                value(&context.tokens(&params.text_document.uri))
            }
            RequestMethod::TextDocumentCompletion => {
                let params = asked::<CompletionRequest>(params)?;
                value(&context.complete(&params.text_document_position_params))
            }
            RequestMethod::TextDocumentFormatting => {
                let params = asked::<DocumentFormattingRequest>(params)?;
                value(&context.format(&params.text_document.uri))
            }
            RequestMethod::TextDocumentCodeAction => {
                let params = asked::<CodeActionRequest>(params)?;
                let uri = &params.text_document.uri;
                value(&context.fixes(uri, params.range, self.options.explain))
            }
            RequestMethod::WorkspaceTextDocumentContent => {
                let params = asked::<TextDocumentContentRequest>(params)?;
                value(&answers::explained(&params.uri).map_err(failed)?)
            }
            RequestMethod::TextDocumentInlayHint => {
                let params = asked::<InlayHintRequest>(params)?;
                let Some(machine) = self.options.hints else {
                    return Ok(Value::Array(Vec::new()));
                };
                self.worker.ask(Job {
                    id: id.clone(),
                    name: name(&params.text_document.uri.0),
                    range: params.range,
                    buffers: self.buffers.clone(),
                    settings: self.options.settings.clone(),
                    machine,
                });
                Err(Unanswered::Later)
            }
            _ => {
                let text = format!("there is no method `{method}`");
                Err(Unanswered::Failed(ErrorCode::MethodNotFound, text))
            }
        }
    }
}

/// The part of a text that a change replaces, or all of it, and the new text.
fn changed_range(change: TextDocumentContentChangeEvent) -> (Option<(Place, Place)>, String) {
    use TextDocumentContentChangeEvent::*;
    match change {
        TextDocumentContentChangePartial(part) => {
            (Some((place(part.range.start), place(part.range.end))), part.text)
        }
        TextDocumentContentChangeWholeDocument(whole) => (None, whole.text),
    }
}

fn read<N: Notification>(params: Value) -> Result<N::Params, serde_json::Error> {
    serde_json::from_value(params)
}

fn asked<R: Request>(params: Value) -> Result<R::Params, Unanswered> {
    serde_json::from_value(params)
        .map_err(|error| Unanswered::Failed(ErrorCode::InvalidParams, error.to_string()))
}

fn value(result: &impl Serialize) -> Result<Value, Unanswered> {
    serde_json::to_value(result)
        .map_err(|error| Unanswered::Failed(ErrorCode::InternalError, error.to_string()))
}
