import UserStore
