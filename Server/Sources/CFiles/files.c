// C, because SwiftPM's embedInCode makes an array literal of each file, which takes the compiler 40 seconds.

#include "CUserServerFiles.h"

static const char openapi[] = {
#embed "../userserver/API/openapi.json" suffix(, 0)
};

const char *openapi_json(void) { return openapi; }

static const struct page_file files[] = {
    {"add-dialog.js", (const char[]){
#embed "../userserver/Page/Files/add-dialog.js" suffix(, 0)
     }},
    {"announcer.js", (const char[]){
#embed "../userserver/Page/Files/announcer.js" suffix(, 0)
     }},
    {"api.js", (const char[]){
#embed "../userserver/Page/Files/api.js" suffix(, 0)
     }},
    {"cell-editor.js", (const char[]){
#embed "../userserver/Page/Files/cell-editor.js" suffix(, 0)
     }},
    {"change-dialog.js", (const char[]){
#embed "../userserver/Page/Files/change-dialog.js" suffix(, 0)
     }},
    {"characters.js", (const char[]){
#embed "../userserver/Page/Files/characters.js" suffix(, 0)
     }},
    {"colors.js", (const char[]){
#embed "../userserver/Page/Files/colors.js" suffix(, 0)
     }},
    {"connection.js", (const char[]){
#embed "../userserver/Page/Files/connection.js" suffix(, 0)
     }},
    {"consumers-view.js", (const char[]){
#embed "../userserver/Page/Files/consumers-view.js" suffix(, 0)
     }},
    {"dialog.js", (const char[]){
#embed "../userserver/Page/Files/dialog.js" suffix(, 0)
     }},
    {"dom.js", (const char[]){
#embed "../userserver/Page/Files/dom.js" suffix(, 0)
     }},
    {"drafts.js", (const char[]){
#embed "../userserver/Page/Files/drafts.js" suffix(, 0)
     }},
    {"editing.js", (const char[]){
#embed "../userserver/Page/Files/editing.js" suffix(, 0)
     }},
    {"event-stream.js", (const char[]){
#embed "../userserver/Page/Files/event-stream.js" suffix(, 0)
     }},
    {"feed.js", (const char[]){
#embed "../userserver/Page/Files/feed.js" suffix(, 0)
     }},
    {"filter-bar.js", (const char[]){
#embed "../userserver/Page/Files/filter-bar.js" suffix(, 0)
     }},
    {"frames.js", (const char[]){
#embed "../userserver/Page/Files/frames.js" suffix(, 0)
     }},
    {"grid-keys.js", (const char[]){
#embed "../userserver/Page/Files/grid-keys.js" suffix(, 0)
     }},
    {"hub.js", (const char[]){
#embed "../userserver/Page/Files/hub.js" suffix(, 0)
     }},
    {"icon.svg", (const char[]){
#embed "../userserver/Page/Files/icon.svg" suffix(, 0)
     }},
    {"index.html", (const char[]){
#embed "../userserver/Page/Files/index.html" suffix(, 0)
     }},
    {"journals.js", (const char[]){
#embed "../userserver/Page/Files/journals.js" suffix(, 0)
     }},
    {"json.js", (const char[]){
#embed "../userserver/Page/Files/json.js" suffix(, 0)
     }},
    {"list-foot.js", (const char[]){
#embed "../userserver/Page/Files/list-foot.js" suffix(, 0)
     }},
    {"list-model.js", (const char[]){
#embed "../userserver/Page/Files/list-model.js" suffix(, 0)
     }},
    {"list-session.js", (const char[]){
#embed "../userserver/Page/Files/list-session.js" suffix(, 0)
     }},
    {"list-total.js", (const char[]){
#embed "../userserver/Page/Files/list-total.js" suffix(, 0)
     }},
    {"listeners.js", (const char[]){
#embed "../userserver/Page/Files/listeners.js" suffix(, 0)
     }},
    {"log-model.js", (const char[]){
#embed "../userserver/Page/Files/log-model.js" suffix(, 0)
     }},
    {"log-row.js", (const char[]){
#embed "../userserver/Page/Files/log-row.js" suffix(, 0)
     }},
    {"log-view.js", (const char[]){
#embed "../userserver/Page/Files/log-view.js" suffix(, 0)
     }},
    {"main.js", (const char[]){
#embed "../userserver/Page/Files/main.js" suffix(, 0)
     }},
    {"name-dialog.js", (const char[]){
#embed "../userserver/Page/Files/name-dialog.js" suffix(, 0)
     }},
    {"notices.js", (const char[]){
#embed "../userserver/Page/Files/notices.js" suffix(, 0)
     }},
    {"page.css", (const char[]){
#embed "../userserver/Page/Files/page.css" suffix(, 0)
     }},
    {"past-log.js", (const char[]){
#embed "../userserver/Page/Files/past-log.js" suffix(, 0)
     }},
    {"past-user.js", (const char[]){
#embed "../userserver/Page/Files/past-user.js" suffix(, 0)
     }},
    {"pause-button.js", (const char[]){
#embed "../userserver/Page/Files/pause-button.js" suffix(, 0)
     }},
    {"plot.js", (const char[]){
#embed "../userserver/Page/Files/plot.js" suffix(, 0)
     }},
    {"polled-list.js", (const char[]){
#embed "../userserver/Page/Files/polled-list.js" suffix(, 0)
     }},
    {"pulse-model.js", (const char[]){
#embed "../userserver/Page/Files/pulse-model.js" suffix(, 0)
     }},
    {"pulse-view.js", (const char[]){
#embed "../userserver/Page/Files/pulse-view.js" suffix(, 0)
     }},
    {"refusal.js", (const char[]){
#embed "../userserver/Page/Files/refusal.js" suffix(, 0)
     }},
    {"router.js", (const char[]){
#embed "../userserver/Page/Files/router.js" suffix(, 0)
     }},
    {"row-order.js", (const char[]){
#embed "../userserver/Page/Files/row-order.js" suffix(, 0)
     }},
    {"sample-users.js", (const char[]){
#embed "../userserver/Page/Files/sample-users.js" suffix(, 0)
     }},
    {"screen-stack.js", (const char[]){
#embed "../userserver/Page/Files/screen-stack.js" suffix(, 0)
     }},
    {"screens-view.js", (const char[]){
#embed "../userserver/Page/Files/screens-view.js" suffix(, 0)
     }},
    {"shell-line.js", (const char[]){
#embed "../userserver/Page/Files/shell-line.js" suffix(, 0)
     }},
    {"state-line.js", (const char[]){
#embed "../userserver/Page/Files/state-line.js" suffix(, 0)
     }},
    {"streams-worker.js", (const char[]){
#embed "../userserver/Page/Files/streams-worker.js" suffix(, 0)
     }},
    {"streams.js", (const char[]){
#embed "../userserver/Page/Files/streams.js" suffix(, 0)
     }},
    {"token-form.js", (const char[]){
#embed "../userserver/Page/Files/token-form.js" suffix(, 0)
     }},
    {"token.js", (const char[]){
#embed "../userserver/Page/Files/token.js" suffix(, 0)
     }},
    {"user-dialog.js", (const char[]){
#embed "../userserver/Page/Files/user-dialog.js" suffix(, 0)
     }},
    {"user.js", (const char[]){
#embed "../userserver/Page/Files/user.js" suffix(, 0)
     }},
    {"users-grid.js", (const char[]){
#embed "../userserver/Page/Files/users-grid.js" suffix(, 0)
     }},
    {"users-query.js", (const char[]){
#embed "../userserver/Page/Files/users-query.js" suffix(, 0)
     }},
    {"users-row.js", (const char[]){
#embed "../userserver/Page/Files/users-row.js" suffix(, 0)
     }},
    {"users-view.js", (const char[]){
#embed "../userserver/Page/Files/users-view.js" suffix(, 0)
     }},
    {"value-view.js", (const char[]){
#embed "../userserver/Page/Files/value-view.js" suffix(, 0)
     }},
    {"values.js", (const char[]){
#embed "../userserver/Page/Files/values.js" suffix(, 0)
     }},
    {"writes.js", (const char[]){
#embed "../userserver/Page/Files/writes.js" suffix(, 0)
     }},
    {0, 0},
};

const struct page_file *page_files(void) { return files; }
