// In C: SwiftPM's embedInCode makes an array literal of each file, which takes the compiler 40 seconds.

#include "CUserServerFiles.h"

static const char openapi[] = {
#embed "../userserver/API/openapi.json" suffix(, 0)
};

const char *openapi_json(void) { return openapi; }

static const struct page_file files[] = {
    {"icon.svg", (const char[]){
#embed "../userserver/Page/Files/icon.svg" suffix(, 0)
     }},
    {"index.html", (const char[]){
#embed "../userserver/Page/Files/index.html" suffix(, 0)
     }},
    {"main.js", (const char[]){
#embed "../userserver/Page/Files/main.js" suffix(, 0)
     }},
    {"page.css", (const char[]){
#embed "../userserver/Page/Files/page.css" suffix(, 0)
     }},
    {"router.js", (const char[]){
#embed "../userserver/Page/Files/router.js" suffix(, 0)
     }},
    {"shell-line.js", (const char[]){
#embed "../userserver/Page/Files/shell-line.js" suffix(, 0)
     }},
    {"state-line.js", (const char[]){
#embed "../userserver/Page/Files/state-line.js" suffix(, 0)
     }},
    {"connection/api.js", (const char[]){
#embed "../userserver/Page/Files/connection/api.js" suffix(, 0)
     }},
    {"connection/connection.js", (const char[]){
#embed "../userserver/Page/Files/connection/connection.js" suffix(, 0)
     }},
    {"connection/event-stream.js", (const char[]){
#embed "../userserver/Page/Files/connection/event-stream.js" suffix(, 0)
     }},
    {"connection/feed.js", (const char[]){
#embed "../userserver/Page/Files/connection/feed.js" suffix(, 0)
     }},
    {"connection/hub.js", (const char[]){
#embed "../userserver/Page/Files/connection/hub.js" suffix(, 0)
     }},
    {"connection/journals.js", (const char[]){
#embed "../userserver/Page/Files/connection/journals.js" suffix(, 0)
     }},
    {"connection/outbox.js", (const char[]){
#embed "../userserver/Page/Files/connection/outbox.js" suffix(, 0)
     }},
    {"connection/polled-list.js", (const char[]){
#embed "../userserver/Page/Files/connection/polled-list.js" suffix(, 0)
     }},
    {"connection/request.js", (const char[]){
#embed "../userserver/Page/Files/connection/request.js" suffix(, 0)
     }},
    {"connection/streams-worker.js", (const char[]){
#embed "../userserver/Page/Files/connection/streams-worker.js" suffix(, 0)
     }},
    {"connection/streams.js", (const char[]){
#embed "../userserver/Page/Files/connection/streams.js" suffix(, 0)
     }},
    {"connection/token-form.js", (const char[]){
#embed "../userserver/Page/Files/connection/token-form.js" suffix(, 0)
     }},
    {"connection/token.js", (const char[]){
#embed "../userserver/Page/Files/connection/token.js" suffix(, 0)
     }},
    {"editing/cell-editor.js", (const char[]){
#embed "../userserver/Page/Files/editing/cell-editor.js" suffix(, 0)
     }},
    {"editing/colors.js", (const char[]){
#embed "../userserver/Page/Files/editing/colors.js" suffix(, 0)
     }},
    {"editing/drafts.js", (const char[]){
#embed "../userserver/Page/Files/editing/drafts.js" suffix(, 0)
     }},
    {"editing/editing.js", (const char[]){
#embed "../userserver/Page/Files/editing/editing.js" suffix(, 0)
     }},
    {"editing/user-dialog.js", (const char[]){
#embed "../userserver/Page/Files/editing/user-dialog.js" suffix(, 0)
     }},
    {"editing/writes.js", (const char[]){
#embed "../userserver/Page/Files/editing/writes.js" suffix(, 0)
     }},
    {"log/change-dialog.js", (const char[]){
#embed "../userserver/Page/Files/log/change-dialog.js" suffix(, 0)
     }},
    {"log/consumers-view.js", (const char[]){
#embed "../userserver/Page/Files/log/consumers-view.js" suffix(, 0)
     }},
    {"log/log-model.js", (const char[]){
#embed "../userserver/Page/Files/log/log-model.js" suffix(, 0)
     }},
    {"log/log-row.js", (const char[]){
#embed "../userserver/Page/Files/log/log-row.js" suffix(, 0)
     }},
    {"log/log-view.js", (const char[]){
#embed "../userserver/Page/Files/log/log-view.js" suffix(, 0)
     }},
    {"log/past.js", (const char[]){
#embed "../userserver/Page/Files/log/past.js" suffix(, 0)
     }},
    {"pulse/pulse-model.js", (const char[]){
#embed "../userserver/Page/Files/pulse/pulse-model.js" suffix(, 0)
     }},
    {"pulse/pulse-view.js", (const char[]){
#embed "../userserver/Page/Files/pulse/pulse-view.js" suffix(, 0)
     }},
    {"screens/listeners.js", (const char[]){
#embed "../userserver/Page/Files/screens/listeners.js" suffix(, 0)
     }},
    {"screens/name-dialog.js", (const char[]){
#embed "../userserver/Page/Files/screens/name-dialog.js" suffix(, 0)
     }},
    {"screens/screen-stack.js", (const char[]){
#embed "../userserver/Page/Files/screens/screen-stack.js" suffix(, 0)
     }},
    {"screens/screens-view.js", (const char[]){
#embed "../userserver/Page/Files/screens/screens-view.js" suffix(, 0)
     }},
    {"shared/characters.js", (const char[]){
#embed "../userserver/Page/Files/shared/characters.js" suffix(, 0)
     }},
    {"shared/dialog.js", (const char[]){
#embed "../userserver/Page/Files/shared/dialog.js" suffix(, 0)
     }},
    {"shared/dom.js", (const char[]){
#embed "../userserver/Page/Files/shared/dom.js" suffix(, 0)
     }},
    {"shared/frames.js", (const char[]){
#embed "../userserver/Page/Files/shared/frames.js" suffix(, 0)
     }},
    {"shared/json.js", (const char[]){
#embed "../userserver/Page/Files/shared/json.js" suffix(, 0)
     }},
    {"shared/notices.js", (const char[]){
#embed "../userserver/Page/Files/shared/notices.js" suffix(, 0)
     }},
    {"shared/observers.js", (const char[]){
#embed "../userserver/Page/Files/shared/observers.js" suffix(, 0)
     }},
    {"shared/pause-button.js", (const char[]){
#embed "../userserver/Page/Files/shared/pause-button.js" suffix(, 0)
     }},
    {"shared/user.js", (const char[]){
#embed "../userserver/Page/Files/shared/user.js" suffix(, 0)
     }},
    {"shared/value-view.js", (const char[]){
#embed "../userserver/Page/Files/shared/value-view.js" suffix(, 0)
     }},
    {"shared/values.js", (const char[]){
#embed "../userserver/Page/Files/shared/values.js" suffix(, 0)
     }},
    {"table/add-dialog.js", (const char[]){
#embed "../userserver/Page/Files/table/add-dialog.js" suffix(, 0)
     }},
    {"table/filter-bar.js", (const char[]){
#embed "../userserver/Page/Files/table/filter-bar.js" suffix(, 0)
     }},
    {"table/grid-keys.js", (const char[]){
#embed "../userserver/Page/Files/table/grid-keys.js" suffix(, 0)
     }},
    {"table/list-foot.js", (const char[]){
#embed "../userserver/Page/Files/table/list-foot.js" suffix(, 0)
     }},
    {"table/list-model.js", (const char[]){
#embed "../userserver/Page/Files/table/list-model.js" suffix(, 0)
     }},
    {"table/list-session.js", (const char[]){
#embed "../userserver/Page/Files/table/list-session.js" suffix(, 0)
     }},
    {"table/list-total.js", (const char[]){
#embed "../userserver/Page/Files/table/list-total.js" suffix(, 0)
     }},
    {"table/row-order.js", (const char[]){
#embed "../userserver/Page/Files/table/row-order.js" suffix(, 0)
     }},
    {"table/users-grid.js", (const char[]){
#embed "../userserver/Page/Files/table/users-grid.js" suffix(, 0)
     }},
    {"table/users-query.js", (const char[]){
#embed "../userserver/Page/Files/table/users-query.js" suffix(, 0)
     }},
    {"table/users-row.js", (const char[]){
#embed "../userserver/Page/Files/table/users-row.js" suffix(, 0)
     }},
    {"table/users-view.js", (const char[]){
#embed "../userserver/Page/Files/table/users-view.js" suffix(, 0)
     }},
    {0, 0},
};

const struct page_file *page_files(void) { return files; }
